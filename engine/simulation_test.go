package engine

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/proof/testseed"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var (
	simulationSteps = flag.Int("simulation-steps", 300, "number of steps of TestSimulation")
)

// TestSimulation sends random requests to an engine and to a simple model of it, and compares
// all responses. The requests cover items, batches, procedures, queries, the change feed,
// expiry, deleted and recreated containers, splits, backups, restarts and concurrent writers. At
// times, scripts run under snapshot isolation.
// Crashes may happen during each of them and drop all or some unsynced data. After a crash,
// acknowledged writes must exist, and others must exist completely or not at all.
func TestSimulation(t *testing.T) {
	seed := testseed.Of(t)
	s := newSimulation(t, seed)
	for s.step = range *simulationSteps {
		s.runStep()
	}
	s.verify()
	s.closing(s.account)
	t.Logf("seed %d: %d steps, %v", seed, *simulationSteps, s.counts)
}

// simulation is an engine with its model.
type simulation struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	step   int
	recent []string       // the last steps, for debugging
	counts map[string]int // of steps, by kind

	memory *vfs.MemFS // the disk
	*account
	now     time.Time // of the engine's clock
	backups int
	serial  int // for ids that are used once

	model  model
	before model             // the model when the step began
	given  map[string]uint64 // the last numbers at that time
	// revived is true if a crash may have restored expired items that were removed before it.
	// Clients do not see them.
	revived  bool
	parallel map[string]bool // ids of concurrent writes; true if acknowledged

	crash crash
}

// crash waits for a write to the disk and clones the disk at that moment.
type crash struct {
	left atomic.Int64 // remaining writes; 0 if no crash is pending
	// struck is set before the clone. Responses received while it was unset were acknowledged
	// before the crash.
	struck atomic.Bool
	mu     sync.Mutex // guards the fields below
	config vfs.CrashCloneCfg
	disk   *vfs.MemFS
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	s := &simulation{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{}, model: model{}, before: model{}}
	s.now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.open(vfs.NewCrashableMem(), "")
	s.must(201, s.send("POST", "dbs", `{"id":"blog"}`))
	return s
}

// open opens an engine on a disk.
func (s *simulation) open(disk *vfs.MemFS, key string) {
	s.memory = disk
	watched := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && s.crash.left.Load() > 0 && s.crash.left.Add(-1) == 0 {
			s.cloneCrashed()
		}
		return nil
	}))
	s.account = s.opened(Options{Dir: "data", FS: watched, Key: key, SnapshotScripts: s.random.IntN(3) == 0})
}

// opened opens an engine at the simulation's current time.
func (s *simulation) opened(options Options) *account {
	clock := &testClock{now: s.now}
	options.Now = clock.Now
	e, err := Open(options)
	if err != nil {
		s.fail("open: %v", err)
	}
	return &account{e, s.t, clock, e.key.Load().bytes}
}

// cloneCrashed clones the disk as a crash would leave it now.
func (s *simulation) cloneCrashed() {
	s.crash.mu.Lock()
	defer s.crash.mu.Unlock()
	s.crash.struck.Store(true)
	s.crash.disk = s.memory.CrashClone(s.crash.config)
}

// scheduleCrash schedules a crash for one of the next writes to the disk.
func (s *simulation) scheduleCrash() {
	s.crash.mu.Lock()
	s.crash.config = vfs.CrashCloneCfg{
		UnsyncedDataPercent: []int{0, 0, 50, 100}[s.random.IntN(4)],
		RNG:                 rand.New(rand.NewPCG(s.random.Uint64(), 0)),
	}
	s.crash.mu.Unlock()
	s.crash.left.Store(1 + s.random.Int64N(12))
}

// runStep executes one step. If a crash happened during the step, it opens the disk that the crash
// left.
func (s *simulation) runStep() {
	s.before, s.given, s.parallel = s.model.clone(), s.numbers(), nil
	s.pick()(s)
	if s.crash.struck.Load() {
		s.recover()
	}
}

// fail ends the simulation and prints the seed that reproduces it.
func (s *simulation) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("seed %d, step %d: %s\nthe last steps:\n%s", s.seed, s.step, fmt.Sprintf(format, args...), strings.Join(s.recent, "\n"))
}

func (s *simulation) record(kind, format string, args ...any) {
	s.counts[kind]++
	s.recent = append(s.recent, fmt.Sprintf("%d %s ", s.step, kind)+fmt.Sprintf(format, args...))
	if len(s.recent) > 30 {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
}

// kinds are the steps with their relative frequency.
var kinds = []struct {
	often int
	run   func(s *simulation)
}{
	{30, (*simulation).write},
	{10, (*simulation).batch},
	{10, (*simulation).procedure},
	{10, (*simulation).readItem},
	{8, (*simulation).query},
	{8, (*simulation).follow},
	{6, (*simulation).wait},
	{3, (*simulation).remove},
	{3, (*simulation).scheduleCrash},
	{2, (*simulation).parallelWrites},
	{2, (*simulation).backgroundWork},
	{1, (*simulation).containers},
	{1, (*simulation).splitOne},
	{1, (*simulation).backup},
	{1, (*simulation).redefine},
	{1, (*simulation).restart},
}

func (s *simulation) pick() func(*simulation) {
	all := 0
	for _, k := range kinds {
		all += k.often
	}
	n := s.random.IntN(all)
	for _, k := range kinds {
		if n -= k.often; n < 0 {
			return k.run
		}
	}
	panic("not reached")
}

// pickContainer returns the name and model of a container. If there is none yet, it creates one as
// the whole step and returns nil.
func (s *simulation) pickContainer() (string, *containerModel) {
	name := []string{"posts", "posts", "other"}[s.random.IntN(3)]
	if sp := s.model[name]; sp != nil {
		return name, sp
	}
	s.record("create container", "%s", name)
	s.must(201, s.send("POST", "dbs/blog/colls", strings.Replace(blogContainer, `"posts"`, `"`+name+`"`, 1)))
	s.model[name] = newContainerModel()
	return name, nil
}

func docsOf(name string) string { return "dbs/blog/colls/" + name + "/docs" }

// wait advances the clock.
func (s *simulation) wait() {
	seconds := time.Duration(s.random.IntN(20)) * time.Second
	s.record("wait", "%v", seconds)
	s.now = s.now.Add(seconds)
	s.clock.advance(seconds)
}

// remove purges expired items.
func (s *simulation) remove() {
	s.record("purge", "")
	want := s.model.purge(s.now.Unix())
	if got, err := s.Purge(context.Background()); err != nil || got != want && !s.revived {
		s.fail("Purge removed %d of %d expired items: %v", got, want, err)
	}
	s.revived = false
}

// backgroundWork does the background work of an engine.
func (s *simulation) backgroundWork() {
	s.record("background work", "")
	_ = s.disk.renewSeal()
	if flushed, err := s.db.AsyncFlush(); err == nil {
		<-flushed
	}
}

// containers deletes a container.
func (s *simulation) containers() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	s.record("delete container", "%s", name)
	s.must(204, s.send("DELETE", "dbs/blog/colls/"+name, ""))
	delete(s.model, name)
}

// redefine changes the defaultTtl and indexes of a container. It purges expired items first,
// because the change may revive them.
func (s *simulation) redefine() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	s.before.purge(s.now.Unix())
	s.model.purge(s.now.Unix())
	sp.ttl = []int{0, -1, -1, 30}[s.random.IntN(4)]
	text := strings.Replace(blogContainer, `"posts"`, `"`+name+`"`, 1)
	text = strings.Replace(text, `"defaultTtl":-1,`, map[bool]string{true: fmt.Sprintf(`"defaultTtl":%d,`, sp.ttl)}[sp.ttl != 0], 1)
	if s.random.IntN(2) == 0 {
		text = strings.Replace(text, `,{"path":"/userId/?"}`, `,{"path":"/n/?"}`, 1)
	}
	s.record("redefine", "%s %s", name, text)
	if _, err := s.Purge(context.Background()); err != nil {
		s.fail("purge: %v", err)
	}
	s.must(200, s.send("PUT", "dbs/blog/colls/"+name, text))
}

// splitOne splits a range of a container, unless it has several already.
func (s *simulation) splitOne() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	c, _ := s.container("blog", name)
	if len(c.ranges) >= 4 {
		return
	}
	r := c.ranges[s.random.IntN(len(c.ranges))]
	s.record("split", "%s %d", name, r.id)
	if err := s.Split("blog", name, r.idText()); err != nil {
		s.fail("split: %v", err)
	}
	position := sp.read[r.idText()]
	for id := c.nextRangeID(); id < c.nextRangeID()+2; id++ {
		sp.read[fmt.Sprint(id)] = position
	}
}

// backup opens a backup and compares it.
func (s *simulation) backup() {
	s.backups++
	dir := fmt.Sprintf("backup-%d", s.backups)
	s.record("backup", "%s", dir)
	if err := s.Backup(dir); err != nil {
		s.fail("backup: %v", err)
	}
	a := s.opened(Options{Dir: dir, FS: s.memory, Key: s.Key()})
	if got, want := dump(s, a), s.model.dump(s, a); got != want {
		s.fail("the backup differs: %s", difference(got, want))
	}
	s.closing(a)
}

func (s *simulation) closing(a *account) {
	if err := a.Check(); err != nil {
		s.fail("%v", err)
	}
	if err := a.Engine.Close(); err != nil {
		s.fail("close: %v", err)
	}
}

// restart closes the engine and opens it again.
func (s *simulation) restart() {
	s.record("restart", "")
	s.closing(s.account)
	s.open(s.memory, s.Key())
	s.verify()
}

// verify compares the complete state.
func (s *simulation) verify() {
	if err := s.Check(); err != nil {
		s.fail("%v", err)
	}
	if got, want := dump(s, s.account), s.model.dump(s, s.account); got != want {
		s.fail("the engine's state differs: %s", difference(got, want))
	}
}

// recover opens the disk that a crash left. The state must be the one before or after the step
// during which the crash happened.
func (s *simulation) recover() {
	s.crash.mu.Lock()
	disk := s.crash.disk
	s.crash.disk = nil
	s.crash.mu.Unlock()
	s.record("crash", "keeps %d %% of unsynced data", s.crash.config.UnsyncedDataPercent)
	if err := s.Engine.Close(); err != nil {
		s.fail("close: %v", err)
	}
	s.revived = true
	s.crash.left.Store(0)
	s.crash.struck.Store(false)
	s.open(disk, s.Key())
	if s.parallel != nil {
		s.addParallelWrites()
	} else if got := dump(s, s.account); got != s.model.dump(s, s.account) {
		if want := s.before.dump(s, s.account); got != want {
			s.fail("after the crash, the state is neither that before the last step nor that after it: %s\n%s",
				difference(got, want), difference(got, s.model.dump(s, s.account)))
		}
		s.model = s.before
	}
	s.verify()
	for log, number := range s.numbers() {
		if number < s.given[log] {
			s.fail("log %s continues at %d after %d", log, number, s.given[log])
		}
	}
}

// numbers returns the last assigned numbers by container and log.
func (s *simulation) numbers() map[string]uint64 {
	numbers := map[string]uint64{}
	for _, d := range s.catalog.Load().databases {
		for _, c := range d.containers {
			for _, r := range c.ranges {
				numbers[fmt.Sprint(c.number, "/", r.log.number)] = r.applied.Load()
			}
		}
	}
	return numbers
}

// difference returns the first lines in which two dumps differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("got\n%s\nwant\n%s", g[i], w[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}
