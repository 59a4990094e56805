package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// projectors reads its settings and kills and stops projectors while there are writers.
func projectors(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("projectors", flag.ContinueOnError)
	seconds := flags.Int("seconds", 60, "for how long there are writers, and projectors are killed")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "of what is random")
	writers := flags.Int("writers", 16, "how many write at once")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cosmosblog-chaos-")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "seed %d: of three projectors two are killed and one is stopped, again and again, for %d s under %d writers\n", *seed, *seconds, *writers)
	err = (&projecting{folder: folder, seed: *seed, out: out}).run(ctx, time.Duration(*seconds)*time.Second, *writers)
	if err != nil {
		return fmt.Errorf("%w\nthe seed is %d, and data and logs are in %s", err, *seed, folder)
	}
	return os.RemoveAll(folder)
}

// projecting is an engine, a server, projectors, and writers.
type projecting struct {
	folder string
	seed   uint64
	out    io.Writer

	program     program
	environment []string // by which the program finds the engine
	running     []*daemon
	server      api
	board       *board
	swarm       *swarm
}

var answersAt = regexp.MustCompile(`^The GraphQL API is at (http://\S+)`)

func (p *projecting) run(ctx context.Context, d time.Duration, writers int) (err error) {
	defer func() { err = errors.Join(err, p.end()) }()
	if err := p.start(ctx); err != nil {
		return err
	}
	bloggers, err := p.bloggers(ctx, writers)
	if err != nil {
		return err
	}
	if p.swarm, err = newSwarm(ctx, p.program, p.environment, p.seed); err != nil {
		return err
	}
	if err := p.storm(ctx, bloggers, time.Now().Add(d)); err != nil {
		return err
	}
	lost, err := p.swarm.lost()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%d kills; %d stops, after which %d leases were somebody else's; %d posts, %d users; %v\n",
		p.swarm.kills, p.swarm.halts, lost, len(p.board.posts), len(p.board.users), p.board.done)
	if err := p.untilEqual(ctx); err != nil {
		return err
	}
	return p.audit(ctx)
}

// start starts an engine with several feed ranges, and a server without a projector.
func (p *projecting) start(ctx context.Context) (err error) {
	key := make([]byte, 64)
	rand.Read(key)
	if p.program, err = buildProgram(ctx, p.folder, base64.StdEncoding.EncodeToString(key)); err != nil {
		return err
	}
	engine, err := p.program.daemon(ctx, "engine.log", nil, serves, "engine", "--addr", "127.0.0.1:0", "--data", filepath.Join(p.folder, "engine"))
	if err != nil {
		return err
	}
	p.running = append(p.running, engine)
	p.environment = []string{"COSMOS_ENDPOINT=" + engine.says, "COSMOS_KEY=" + p.program.key}
	const ranges = "manual:400,users=manual:20000,posts=manual:40000" // an engine's range has 10,000 RU/s
	if _, err := p.do(ctx, "provision", "--throughput", ranges); err != nil {
		return err
	}
	server, err := p.program.daemon(ctx, "server.log", p.environment, answersAt, "serve", "--projector=false", "--addr", "127.0.0.1:0",
		"--data", p.serverData())
	if err != nil {
		return err
	}
	p.running = append(p.running, server)
	p.server = api{url: server.says, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	return nil
}

func (p *projecting) serverData() string { return filepath.Join(p.folder, "server") }

// do runs the program to its end, and gives what it printed.
func (p *projecting) do(ctx context.Context, arguments ...string) (string, error) {
	c := p.program.command(ctx, arguments...)
	c.Env = append(c.Env, p.environment...)
	output, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", arguments[0], err, output)
	}
	return strings.TrimSpace(string(output)), nil
}

func (p *projecting) bloggers(ctx context.Context, n int) ([]*blogger, error) {
	p.board = newBoard()
	var all []*blogger
	for i := range n {
		token, err := p.do(ctx, "token", "--sub", fmt.Sprintf("blogger%d", i), "--data", p.serverData())
		if err != nil {
			return nil, err
		}
		a := p.server
		a.token = token
		all = append(all, &blogger{api: a, board: p.board, Rand: mathrand.New(mathrand.NewPCG(p.seed, uint64(100+i))), number: i})
	}
	return all, nil
}

// storm lets everybody write, and projectors be killed and stopped, until then.
func (p *projecting) storm(ctx context.Context, bloggers []*blogger, until time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	storm, over := context.WithDeadline(ctx, until)
	defer over()
	found := make(chan error, len(bloggers)+1)
	var group sync.WaitGroup
	for _, b := range bloggers {
		group.Go(func() { found <- b.write(ctx, until) })
	}
	group.Go(func() { found <- p.swarm.harass(storm) })
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

// untilEqual waits until every view equals its source, and tells for how long.
func (p *projecting) untilEqual(ctx context.Context) error {
	const patience = time.Minute
	for {
		t, err := readTruth(ctx, p.server, p.board)
		if err != nil {
			return err
		}
		difference, err := t.difference(ctx, p.server)
		if err != nil {
			return err
		}
		waited := time.Since(p.board.last)
		if difference == "" {
			fmt.Fprintf(p.out, "the views of %d posts and %d users equal their source %v after the last write\n", len(t.posts), len(t.usernames), waited.Round(100*time.Millisecond))
			return nil
		}
		if waited > patience {
			return fmt.Errorf("%v after the last write, %s", waited.Round(time.Second), difference)
		}
		if !wait(ctx, 500*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// audit has the program compare all that there is, also what the API does not show.
func (p *projecting) audit(ctx context.Context) error {
	for _, arguments := range [][]string{{"deadletters"}, {"audit", "--max-ru", "1000000"}} {
		said, err := p.do(ctx, arguments...)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.out, said)
	}
	return nil
}

// end ends all that still runs, the projectors first.
func (p *projecting) end() error {
	var failed error
	if p.swarm != nil {
		failed = p.swarm.end()
	}
	for i := len(p.running) - 1; i >= 0; i-- {
		failed = errors.Join(failed, p.running[i].end())
	}
	return failed
}
