package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"cosmosblog/proof/chaos/contract"
)

// projectors parses the flags, and kills and pauses projectors under writers.
func projectors(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("projectors", flag.ContinueOnError)
	seconds := flags.Int("seconds", 60, "duration of the writes and kills in `seconds`")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "`seed` of the random numbers")
	writers := flags.Int("writers", 16, "number of concurrent `writers`")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cosmosblog-chaos-")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "seed %d: repeatedly killing two of three projectors and pausing one, for %d s under %d writers\n",
		*seed, *seconds, *writers)
	test := &projectorTest{folder: folder, seed: *seed, out: out}
	err = test.run(ctx, time.Duration(*seconds)*time.Second, *writers)
	if err != nil {
		return fmt.Errorf("%w\nseed %d; data and logs are in %s", err, *seed, folder)
	}
	return os.RemoveAll(folder)
}

// projectorTest is an engine, a server, projectors, and writers.
type projectorTest struct {
	folder string
	seed   uint64
	out    io.Writer

	program     program
	environment []string // endpoint and key of the engine
	running     []*daemon
	server      api
	history     *history
	projectors  projectorSet
}

var answersAt = regexp.MustCompile(`^The GraphQL API is at (http://\S+)`)

func (p *projectorTest) run(ctx context.Context, d time.Duration, writers int) (err error) {
	defer func() { err = errors.Join(err, p.end()) }()
	if err := p.start(ctx); err != nil {
		return err
	}
	bloggers, err := p.bloggers(ctx, writers)
	if err != nil {
		return err
	}
	if p.projectors, err = newProjectorSet(ctx, p.program, p.environment, p.seed); err != nil {
		return err
	}
	if err := p.disturb(ctx, bloggers, time.Now().Add(d)); err != nil {
		return err
	}
	lost, err := p.projectors.lostLeases()
	if err != nil {
		return err
	}
	kills, pauses := p.projectors.disturbances()
	fmt.Fprintf(p.out, "%d kills; %d pauses, after which %d leases were lost; %d posts, %d users; %v\n",
		kills, pauses, lost, len(p.history.posts), len(p.history.users), p.history.done)
	if err := p.waitForViews(ctx); err != nil {
		return err
	}
	return p.audit(ctx)
}

// start starts an engine with several feed ranges, and a server without a projector.
func (p *projectorTest) start(ctx context.Context) (err error) {
	key := make([]byte, 64)
	rand.Read(key)
	if p.program, err = buildProgram(ctx, p.folder, base64.StdEncoding.EncodeToString(key)); err != nil {
		return err
	}
	engine, err := p.program.daemon(ctx, "engine.log", nil, serves,
		"engine", "--addr", "127.0.0.1:0", "--data", filepath.Join(p.folder, "engine"))
	if err != nil {
		return err
	}
	p.running = append(p.running, engine)
	p.environment = []string{"COSMOS_ENDPOINT=" + engine.announced, "COSMOS_KEY=" + p.program.key}
	// A physical partition of the engine has 10,000 RU/s.
	const ranges = "manual:400,users=manual:20000,posts=manual:40000"
	if _, err := p.do(ctx, "provision", "--throughput", ranges); err != nil {
		return err
	}
	server, err := p.program.daemon(ctx, "server.log", p.environment, answersAt,
		"serve", "--projector=false", "--addr", "127.0.0.1:0", "--data", p.serverData())
	if err != nil {
		return err
	}
	p.running = append(p.running, server)
	p.server = api{url: server.announced, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	return nil
}

func (p *projectorTest) serverData() string { return filepath.Join(p.folder, "server") }

// do runs the program to its end and returns its output.
func (p *projectorTest) do(ctx context.Context, arguments ...string) (string, error) {
	return p.program.do(ctx, p.environment, arguments...)
}

func (p *projectorTest) bloggers(ctx context.Context, n int) ([]*blogger, error) {
	p.history = newHistory()
	var all []*blogger
	for i := range n {
		token, err := p.do(ctx, "token", "--sub", fmt.Sprintf("blogger%d", i), "--data", p.serverData())
		if err != nil {
			return nil, err
		}
		a := p.server
		a.token = token
		random := mathrand.New(mathrand.NewPCG(p.seed, uint64(100+i)))
		all = append(all, &blogger{api: a, history: p.history, Rand: random, number: i})
	}
	return all, nil
}

// disturb runs the bloggers, and kills and pauses projectors, until the given time.
func (p *projectorTest) disturb(ctx context.Context, bloggers []*blogger, until time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limited, stop := context.WithDeadline(ctx, until)
	defer stop()
	found := make(chan error, len(bloggers)+1)
	var group sync.WaitGroup
	for _, b := range bloggers {
		group.Go(func() { found <- b.write(ctx, until) })
	}
	group.Go(func() { found <- p.projectors.disturb(limited) })
	var failed error
	for range len(bloggers) + 1 {
		if err := <-found; err != nil {
			failed = errors.Join(failed, err)
			cancel()
		}
	}
	group.Wait()
	return failed
}

// waitForViews waits until every view equals its source, and prints the time it took.
func (p *projectorTest) waitForViews(ctx context.Context) error {
	const timeout = time.Minute
	h := p.history
	for {
		s, err := readSnapshot(ctx, p.server, slices.Collect(maps.Keys(h.users)), h.posts, nil)
		if err != nil {
			return err
		}
		violations := contract.CheckViews(s)
		waited := time.Since(h.last)
		if len(violations) == 0 {
			fmt.Fprintf(p.out, "all views of %d posts and %d users were consistent %v after the last write\n",
				len(s.Posts), len(s.Users), waited.Round(100*time.Millisecond))
			return nil
		}
		if waited > timeout {
			return fmt.Errorf("%v after the last write, %v", waited.Round(time.Second), violations[0])
		}
		if !wait(ctx, 500*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// audit runs the program's own audit, which also covers data that the API does not show.
func (p *projectorTest) audit(ctx context.Context) error {
	for _, arguments := range [][]string{{"deadletters"}, {"audit", "--max-ru", "1000000"}} {
		output, err := p.do(ctx, arguments...)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.out, output)
	}
	return nil
}

// end ends all processes, the projectors first.
func (p *projectorTest) end() error {
	failed := p.projectors.end()
	for i := len(p.running) - 1; i >= 0; i-- {
		failed = errors.Join(failed, p.running[i].end())
	}
	return failed
}
