package models

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/seed"
)

// Column is a model in the comparison.
type Column struct {
	Name  string // V1 …
	Model Model
}

// Figure is what one execution of an operation costs.
type Figure struct {
	Millis     float64 `json:"millis"`     // median
	RU         float64 `json:"ru"`         // mean
	Requests   float64 `json:"requests"`   // mean
	Partitions float64 `json:"partitions"` // mean; a request to all logical partitions of a physical one counts as one
}

// Options configure Measure.
type Options struct {
	Samples  int               // executions of each operation
	Feeds    int               // executions of Q6, which takes hundreds of requests in V1
	Progress func(text string) // called before each part
}

// Measure loads a data set into all columns, and executes the ten operations in each. It returns
// the figures by operation and column. Error: that of a model, or *DifferenceError if two models
// return different results. They are compared at every execution of a query, and again after the
// writes and after renames.
func Measure(ctx context.Context, set *seed.Set, columns []Column, o Options) (map[string]map[string]Figure, error) {
	m := &measurement{Options: o, samples: samplesOf(set, o.Samples), figures: map[string]map[string]Figure{}}
	for _, c := range columns {
		o.Progress("loading " + c.Name)
		if err := c.Model.Load(ctx, set); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		m.columns = append(m.columns, newColumn(c))
	}
	steps := []func(context.Context) error{
		func(ctx context.Context) error { return m.operations(ctx, "Q1", "Q2", "Q3", "Q4", "Q5", "Q6") },
		func(ctx context.Context) error { return m.operations(ctx, "C1", "C2", "C3", "C4") },
		m.compareAfterWrites,
		m.compareAfterRenames,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return m.figures, nil
}

type measurement struct {
	Options
	columns []*column
	samples []sample
	figures map[string]map[string]Figure
}

// samplesOf chooses users and posts of a set at random, but always the same.
func samplesOf(set *seed.Set, n int) []sample {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	users := make([]*blog.User, set.Users())
	for n := range users {
		users[n] = set.User(n)
	}
	samples := make([]sample, n)
	for i := range samples {
		author := r.IntN(len(users))
		headings := set.Headings(author)
		post := set.Thread(headings[r.IntN(len(headings))], users).Post
		samples[i] = sample{n: i, userID: users[author].ID, postID: post.ID}
	}
	return samples
}

// operations measures operations on all columns in turn, and compares their results.
func (m *measurement) operations(ctx context.Context, names ...string) error {
	for _, o := range Operations {
		if !slices.Contains(names, o.Name) {
			continue
		}
		m.Progress(o.Name + ", " + o.Title)
		samples := m.samples
		if o.Name == "Q6" {
			samples = samples[:min(len(samples), m.Feeds)]
		}
		if o.Name == "C4" { // new users, who like no post yet
			samples = m.likers()
		}
		if err := m.measure(ctx, o, samples); err != nil {
			return err
		}
	}
	return nil
}

// likers returns the samples with the users whom C1 created.
func (m *measurement) likers() []sample {
	samples := slices.Clone(m.samples)
	for i := range samples {
		samples[i].userID, _ = newUser(i)
	}
	return samples
}

func (m *measurement) measure(ctx context.Context, o Operation, samples []sample) error {
	usages := map[string][]usage{}
	for _, s := range samples {
		err := m.compare(ctx, o, s, func(c *column, u usage) { usages[c.Name] = append(usages[c.Name], u) })
		if err != nil {
			return err
		}
	}
	m.figures[o.Name] = map[string]Figure{}
	for name, list := range usages {
		m.figures[o.Name][name] = figureOf(list)
	}
	return nil
}

// compare executes an operation on one sample in all columns. It returns an error if the results
// differ.
func (m *measurement) compare(ctx context.Context, o Operation, s sample, record func(*column, usage)) error {
	var first []string
	for i, c := range m.columns {
		var err error
		if o.Name[0] == 'C' && o.Name != "C1" {
			if s.user, err = c.Model.User(ctx, s.userID); err != nil {
				return fmt.Errorf("%s, %s: %w", c.Name, o.Name, err)
			}
		}
		counter := newRequestCounter()
		begun := time.Now()
		lines, err := o.run(c, cosmos.WithRecorder(ctx, counter), s)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", c.Name, o.Name, err)
		}
		record(c, counter.usage(time.Since(begun)))
		if i == 0 {
			first = lines
		} else if err := difference(o, m.columns[0].Name, first, c.Name, lines); err != nil {
			return err
		}
	}
	return nil
}

// usage is what one execution took.
type usage struct {
	elapsed    time.Duration
	charge     float64
	requests   int
	partitions int
}

func figureOf(list []usage) (f Figure) {
	times := make([]time.Duration, len(list))
	n := float64(len(list))
	for i, u := range list {
		times[i] = u.elapsed
		f.RU += u.charge / n
		f.Requests += float64(u.requests) / n
		f.Partitions += float64(u.partitions) / n
	}
	slices.Sort(times)
	f.Millis = hundredths(float64(times[len(times)/2].Microseconds()) / 1000)
	f.RU, f.Requests, f.Partitions = hundredths(f.RU), hundredths(f.Requests), hundredths(f.Partitions)
	return f
}

// hundredths rounds a figure as the service rounds charges.
func hundredths(x float64) float64 { return math.Round(x*100) / 100 }

// requestCounter counts the requests of one execution. It implements cosmos.Recorder.
type requestCounter struct {
	mu         sync.Mutex
	sum        usage
	partitions map[string]bool
}

func newRequestCounter() *requestCounter { return &requestCounter{partitions: map[string]bool{}} }

// Record implements cosmos.Recorder.
func (c *requestCounter) Record(ctx context.Context, request cosmos.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.charge += request.Charge
	c.sum.requests++
	for _, key := range request.PartitionKeys {
		c.partitions[request.Container+"/"+key] = true
	}
	if len(request.PartitionKeys) == 0 {
		c.sum.partitions++
	}
}

func (c *requestCounter) usage(elapsed time.Duration) usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.sum
	u.elapsed = elapsed
	u.partitions += len(c.partitions)
	return u
}

// compareAfterWrites compares what the writes have changed, after all copies are up to date.
func (m *measurement) compareAfterWrites(ctx context.Context) error {
	m.Progress("comparing what was written")
	return m.compareAll(ctx)
}

// compareAfterRenames renames some users and compares everything that has their names.
func (m *measurement) compareAfterRenames(ctx context.Context) error {
	m.Progress("comparing after renames")
	for _, c := range m.columns {
		for i, s := range m.renamed() {
			if err := c.Model.RenameUser(ctx, s.userID, fmt.Sprintf("renamed-%d", i)); err != nil {
				return fmt.Errorf("%s, C1: %w", c.Name, err)
			}
		}
	}
	return m.compareAll(ctx)
}

// renamed returns samples with different users.
func (m *measurement) renamed() (samples []sample) {
	for _, s := range m.samples {
		isNew := !slices.ContainsFunc(samples, func(other sample) bool { return other.userID == s.userID })
		if isNew && len(samples) < 5 {
			samples = append(samples, s)
		}
	}
	return samples
}

// compareAll executes all queries about all samples, and about the posts that were created.
func (m *measurement) compareAll(ctx context.Context) error {
	for _, c := range m.columns {
		if err := c.Model.Follow(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	for _, o := range Operations {
		if o.Name[0] != 'Q' {
			continue
		}
		samples := slices.Concat(m.samples, m.created())
		if o.Name == "Q6" {
			samples = samples[:1]
		}
		for _, s := range samples {
			if err := m.compare(ctx, o, s, func(*column, usage) {}); err != nil {
				return err
			}
		}
	}
	return nil
}

// created returns the samples with the posts that C2 created.
func (m *measurement) created() []sample {
	samples := m.likers()
	for i := range samples {
		samples[i].postID = fmt.Sprintf("post-%d", i)
	}
	return samples
}

// DifferenceError reports two models that return different results.
type DifferenceError struct {
	Operation     string
	First, Second string // names of the models
	Line          int    // number of the first element that differs, from 0
	Want, Got     string // the elements; empty if there are fewer
}

// Error returns both results.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("%s: element %d differs:\n%s: %s\n%s: %s", e.Operation, e.Line, e.First, e.Want, e.Second, e.Got)
}

// difference compares the results of two models.
func difference(o Operation, first string, want []string, second string, got []string) error {
	for i := range max(len(want), len(got)) {
		a, b := at(want, i), at(got, i)
		if a != b {
			return &DifferenceError{o.Name, first, second, i, a, b}
		}
	}
	return nil
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
