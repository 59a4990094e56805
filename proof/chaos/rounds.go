package main

import (
	"context"
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

// killTest kills an engine repeatedly while clients write.
type killTest struct {
	data   string
	seed   uint64
	random *rand.Rand
	most   int // maximum number of writes in a round
	out    io.Writer
	count  int // number of writers

	program   program
	key       []byte
	account   *account
	engine    *process
	container string
	writers   []*writer
	follower  *follower
}

func newKillTest(folder string, seed uint64, writers, most int, out io.Writer) *killTest {
	k := &killTest{
		data: filepath.Join(folder, "data"), seed: seed, random: rand.New(rand.NewPCG(seed, 0)),
		most: most, out: out, count: writers,
	}
	k.key = make([]byte, 64)
	for i := range k.key {
		k.key[i] = byte(k.random.Uint32())
	}
	return k
}

// roundsPerContainer is the number of rounds that share a container. It keeps verification fast.
const roundsPerContainer = 10

// run runs the given number of rounds. It returns an error if a check fails or cannot run.
func (k *killTest) run(ctx context.Context, times int) (err error) {
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
		if round%roundsPerContainer == 0 {
			if err := k.newContainer(ctx, round); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
		summary, err := k.round(ctx)
		if err != nil {
			return fmt.Errorf("round %d: %s: %w", round+1, summary, err)
		}
		left := time.Duration(float64(time.Since(begun)) / float64(round+1) * float64(times-round-1))
		fmt.Fprintf(k.out, "round %d of %d: %s; %s left\n", round+1, times, summary, left.Round(time.Second))
	}
	fmt.Fprintf(k.out, "no inconsistency after %d kills (seed %d)\n", times, k.seed)
	return nil
}

// start starts the account on the existing data. Sometimes it first kills the account during its
// start.
func (k *killTest) start(ctx context.Context) (err error) {
	for k.random.IntN(5) == 0 {
		early, err := k.program.launch(ctx, "account", "--data", k.data)
		if err != nil {
			return err
		}
		select { // a random moment of the start
		case <-ctx.Done():
		case <-time.After(time.Duration(k.random.IntN(60)) * time.Millisecond):
		}
		if err := early.kill(); err != nil {
			return err
		}
	}
	if k.engine, err = k.program.start(ctx, "account", "--data", k.data); err == nil {
		k.account = newAccount(k.engine.url, k.key, k.count+1)
	}
	return err
}

// newContainer creates a container for the next rounds and deletes the previous one.
func (k *killTest) newContainer(ctx context.Context, round int) error {
	if k.container != "" {
		if _, err := k.account.must(ctx, 204, "DELETE", k.container, ""); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("round-%d", round+1)
	k.container = "dbs/chaos/colls/" + name
	definition := fmt.Sprintf(`{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},
		"indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/n/?"}],"compositeIndexes":[
		[{"path":"/pk","order":"ascending"},{"path":"/n","order":"descending"}]]}}`, name)
	_, err := k.account.must(ctx, 201, "POST", "dbs/chaos/colls", definition,
		"x-ms-offer-throughput", "30000") // three physical partitions
	if err != nil {
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
		post := fmt.Sprintf(`{"id":"post","pk":%q,"n":0}`, w.post)
		if _, err := k.account.must(ctx, 201, "POST", k.container+"/docs", post, "pk", w.post); err != nil {
			return err
		}
	}
	return nil
}

// round runs the writers, stops and restarts the engine, and verifies all data.
func (k *killTest) round(ctx context.Context) (summary string, err error) {
	target := int64(1 + k.random.IntN(k.most))
	orderly := k.random.IntN(6) == 0
	summary = fmt.Sprintf("killed after %d writes", target)
	if orderly {
		summary = fmt.Sprintf("stopped after %d writes", target)
	}
	if err := k.writeUntilStopped(ctx, target, orderly); err != nil {
		return summary, err
	}
	unknown := 0
	for _, w := range k.writers {
		if w.unconfirmed != nil {
			unknown++
		}
	}
	if err := k.start(ctx); err != nil {
		return summary, err
	}
	items, err := k.verify(ctx)
	summary = fmt.Sprintf("%s, %d with an unknown outcome; %d items, %d changes read",
		summary, unknown, items, k.follower.changes)
	return summary, err
}

// writeUntilStopped runs the writers until target writes were acknowledged, and then kills or
// stops the engine.
func (k *killTest) writeUntilStopped(ctx context.Context, target int64, orderly bool) error {
	var acknowledged atomic.Int64
	var once sync.Once
	enough := make(chan struct{})
	found := make(chan error, k.count+1) // the error that stopped each goroutine
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
		case err := <-found: // an error while the engine runs
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

// verify checks all data and returns the number of items.
func (k *killTest) verify(ctx context.Context) (int, error) {
	if err := k.follower.drain(ctx, k.account); err != nil {
		return 0, err
	}
	items, err := k.account.all(ctx, k.container)
	if err != nil {
		return 0, err
	}
	deleted := map[itemKey]bool{}
	for _, w := range k.writers {
		if err := w.verify(items); err != nil {
			return 0, err
		}
		for id := range w.deleted {
			deleted[itemKey{w.pk, id}] = true
		}
	}
	if err := k.posts(items); err != nil {
		return 0, err
	}
	if err := k.follower.verify(items, func(p itemKey) bool { return deleted[p] }); err != nil {
		return 0, err
	}
	return len(items), k.engine.check()
}

// posts compares the counters of posts with their comments, and the comments with the
// acknowledged ones.
func (k *killTest) posts(items map[itemKey]storedItem) error {
	comments := map[string]int{}
	for p := range items {
		if strings.HasPrefix(p.pk, "post-") && p.id != "post" {
			comments[p.pk]++
		}
	}
	for _, w := range k.writers {
		if n := items[itemKey{w.post, "post"}].N; n != comments[w.post] {
			return fmt.Errorf("%s has the comment count %d, but %d comments", w.post, n, comments[w.post])
		}
		for id, acknowledged := range w.comments {
			_, there := items[itemKey{w.post, id}]
			if acknowledged && !there {
				return fmt.Errorf("the acknowledged comment %s on %s is missing", id, w.post)
			}
			w.comments[id] = there
		}
	}
	return nil
}
