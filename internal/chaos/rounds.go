package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// killing is a run of kills.
type killing struct {
	folder, data string
	seed         uint64
	random       *rand.Rand
	most         int // writes in a round
	out          io.Writer
	count        int // of writers

	program   program
	key       []byte
	account   *account
	engine    *process
	container string
	writers   []*writer
	follower  *follower
}

func newKilling(folder string, seed uint64, writers, most int, out io.Writer) *killing {
	k := &killing{folder: folder, data: filepath.Join(folder, "data"), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), most: most, out: out, count: writers}
	k.key = make([]byte, 64)
	for i := range k.key {
		k.key[i] = byte(k.random.Uint32())
	}
	return k
}

// roundsOfContainer is how many rounds a container lives, so that looking at everything stays quick.
const roundsOfContainer = 10

// run kills so many times. Error: something is not as it must be, or cannot be seen.
func (k *killing) run(ctx context.Context, times int) (err error) {
	if k.program, err = buildProgram(ctx, k.folder, base64.StdEncoding.EncodeToString(k.key)); err != nil {
		return err
	}
	if err := k.start(ctx); err != nil {
		return err
	}
	defer func() {
		if k.engine != nil {
			err = errors.Join(err, k.engine.end())
		}
	}()
	if _, err := k.account.must(ctx, 201, "POST", "dbs", `{"id":"chaos"}`); err != nil {
		return err
	}
	begun := time.Now()
	for round := range times {
		if round%roundsOfContainer == 0 {
			if err := k.another(ctx, round); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
		said, err := k.round(ctx)
		if err != nil {
			return fmt.Errorf("round %d: %s: %w", round+1, said, err)
		}
		left := time.Duration(float64(time.Since(begun)) / float64(round+1) * float64(times-round-1))
		fmt.Fprintf(k.out, "round %d of %d: %s; %s left\n", round+1, times, said, left.Round(time.Second))
	}
	fmt.Fprintf(k.out, "all is well after %d kills (seed %d)\n", times, k.seed)
	return nil
}

// start starts the engine on what is there. Now and then it is killed while it starts, and started again.
func (k *killing) start(ctx context.Context) (err error) {
	for k.random.IntN(5) == 0 {
		early, err := k.program.launch(ctx, k.data)
		if err != nil {
			return err
		}
		select { // the moment is what is random here
		case <-ctx.Done():
		case <-time.After(time.Duration(k.random.IntN(60)) * time.Millisecond):
		}
		if err := early.kill(); err != nil {
			return err
		}
	}
	if k.engine, err = k.program.start(ctx, k.data); err == nil {
		k.account = newAccount(k.engine.url, k.key, k.count+1)
	}
	return err
}

// another makes a container for the next rounds, and deletes the one before.
func (k *killing) another(ctx context.Context, round int) error {
	if k.container != "" {
		if _, err := k.account.must(ctx, 204, "DELETE", k.container, ""); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("round-%d", round+1)
	k.container = "dbs/chaos/colls/" + name
	definition := fmt.Sprintf(`{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/n/?"}],
		"compositeIndexes":[[{"path":"/pk","order":"ascending"},{"path":"/n","order":"descending"}]]}}`, name)
	if _, err := k.account.must(ctx, 201, "POST", "dbs/chaos/colls", definition, "x-ms-offer-throughput", "30000"); err != nil { // three ranges
		return err
	}
	for name, body := range scripts {
		text, _ := json.Marshal(map[string]string{"id": name, "body": body})
		if _, err := k.account.must(ctx, 201, "POST", k.container+"/sprocs", string(text)); err != nil {
			return err
		}
	}
	ranges, err := k.account.ranges(ctx, k.container)
	if err != nil {
		return err
	}
	k.follower, k.writers = newFollower(k.container, ranges), nil
	posts := map[string]bool{}
	for i := range k.count {
		w := newWriter(k.container, i, rand.New(rand.NewPCG(k.random.Uint64(), 0)))
		k.writers = append(k.writers, w)
		if posts[w.post] {
			continue
		}
		posts[w.post] = true
		if _, err := k.account.must(ctx, 201, "POST", k.container+"/docs", fmt.Sprintf(`{"id":"post","pk":%q,"n":0}`, w.post), "pk", w.post); err != nil {
			return err
		}
	}
	return nil
}

// round has everybody write, ends the engine, starts it again, and looks at everything.
func (k *killing) round(ctx context.Context) (said string, err error) {
	target := int64(1 + k.random.IntN(k.most))
	orderly := k.random.IntN(6) == 0
	said = fmt.Sprintf("killed after %d writes", target)
	if orderly {
		said = fmt.Sprintf("ended after %d writes", target)
	}
	if err := k.writing(ctx, target, orderly); err != nil {
		return said, err
	}
	unknown := 0
	for _, w := range k.writers {
		if w.unknown != nil {
			unknown++
		}
	}
	if err := k.start(ctx); err != nil {
		return said, err
	}
	items, err := k.verify(ctx)
	return fmt.Sprintf("%s, %d without an answer; %d items, %d changes shown", said, unknown, items, k.follower.changes), err
}

// writing lets everybody write until so many writes were acknowledged, and ends the engine then.
func (k *killing) writing(ctx context.Context, target int64, orderly bool) error {
	var acknowledged atomic.Int64
	var once sync.Once
	enough := make(chan struct{})
	found := make(chan error, k.count+1) // what everybody stopped at
	for _, w := range k.writers {
		go func() {
			found <- w.write(ctx, k.account, func() {
				if acknowledged.Add(1) == target {
					once.Do(func() { close(enough) })
				}
			})
		}()
	}
	go func() { found <- k.follower.follow(ctx, k.account) }()
	var errs []error
	stopped := 0
	for ended := false; !ended; {
		select {
		case <-enough:
			ended = true
		case err := <-found: // before the end: it is a fault
			errs = append(errs, err)
			stopped++
			ended = true
		}
	}
	engine := k.engine
	k.engine = nil
	if orderly {
		errs = append(errs, engine.end())
	} else {
		errs = append(errs, engine.kill())
	}
	for ; stopped <= k.count; stopped++ {
		if err := <-found; !errors.Is(err, errCut) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// verify looks at everything, and tells how many items there are.
func (k *killing) verify(ctx context.Context) (int, error) {
	if err := k.follower.drain(ctx, k.account); err != nil {
		return 0, err
	}
	items, err := k.account.all(ctx, k.container)
	if err != nil {
		return 0, err
	}
	deleted := map[place]bool{}
	for _, w := range k.writers {
		if err := w.holds(items); err != nil {
			return 0, err
		}
		for id := range w.deleted {
			deleted[place{w.pk, id}] = true
		}
	}
	if err := k.posts(items); err != nil {
		return 0, err
	}
	if err := k.follower.holds(items, func(p place) bool { return deleted[p] }); err != nil {
		return 0, err
	}
	if output, err := k.program.command(ctx, "check", "--data", k.data).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("check: %w\n%s", err, output)
	}
	return len(items), nil
}

// posts compares what posts count with the comments that are there, and those with what was acknowledged.
func (k *killing) posts(items map[place]document) error {
	comments := map[string]int{}
	for p := range items {
		if strings.HasPrefix(p.pk, "post-") && p.id != "post" {
			comments[p.pk]++
		}
	}
	for _, w := range k.writers {
		if n := items[place{w.post, "post"}].N; n != comments[w.post] {
			return fmt.Errorf("%s counts %d comments and has %d", w.post, n, comments[w.post])
		}
		for id, acknowledged := range w.comments {
			_, there := items[place{w.post, id}]
			if acknowledged && !there {
				return fmt.Errorf("the comment %s on %s was acknowledged and is not there", id, w.post)
			}
			w.comments[id] = there
		}
	}
	return nil
}
