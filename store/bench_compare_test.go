package store_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"cosmosblog/blog"
	"cosmosblog/engine"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// byTurns measures two functions alternately in many short runs, and reports the median of the
// ratios, and the ratio of the best runs. Other load on the machine then slows both.
func byTurns(b *testing.B, rounds, perRound int, base, other func()) {
	b.Helper()
	run := func(do func()) time.Duration {
		begin := time.Now()
		for range perRound {
			do()
		}
		return time.Since(begin) / time.Duration(perRound)
	}
	run(base)
	run(other)
	for b.Loop() {
		var bases, others []time.Duration
		var ratios []float64
		for i := range rounds {
			first, second := base, other
			if i%2 == 1 {
				first, second = other, base
			}
			x, y := run(first), run(second)
			if i%2 == 1 {
				x, y = y, x
			}
			bases, others, ratios = append(bases, x), append(others, y), append(ratios, float64(y)/float64(x))
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], "median-ratio")
		b.ReportMetric(float64(slices.Min(others))/float64(slices.Min(bases)), "best-ratio")
		b.ReportMetric(float64(slices.Min(bases).Nanoseconds()), "base-ns")
		b.ReportMetric(float64(slices.Min(others).Nanoseconds()), "other-ns")
		b.ReportMetric(0, "ns/op")
	}
}

// constant is a transport that answers every read and query with the first answer to its operation
// in its container. It forwards all other requests. It is for one client at a time.
type constant struct {
	next    policy.Transporter
	answers map[string]*constantAnswer // by operation and container
}

type constantAnswer struct {
	http.Response
	body []byte
}

func (c *constant) Do(request *http.Request) (*http.Response, error) {
	target, ok := cosmos.TargetOf(request)
	switch target.Operation {
	case cosmos.OperationRead, cosmos.OperationReadMany, cosmos.OperationQuery:
	default:
		ok = false
	}
	if !ok {
		return c.next.Do(request)
	}
	key := target.Operation + target.Container
	kept := c.answers[key]
	if kept == nil {
		first, err := c.next.Do(request)
		if err != nil {
			return nil, err
		}
		kept = &constantAnswer{Response: *first}
		if kept.body, err = io.ReadAll(first.Body); err != nil {
			return nil, err
		}
		if c.answers == nil {
			c.answers = map[string]*constantAnswer{}
		}
		c.answers[key] = kept
	}
	answer := kept.Response
	answer.Request, answer.Body = request, io.NopCloser(bytes.NewReader(kept.body))
	return &answer, nil
}

// plainClient returns an azcosmos client without the policies of package cosmos.
func plainClient(b *testing.B, engine *engine.Engine, transport policy.Transporter) *azcosmos.Client {
	b.Helper()
	credential, err := azcosmos.NewKeyCredential(engine.Key())
	if err != nil {
		b.Fatal(err)
	}
	options := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: transport}}
	client, err := azcosmos.NewClientWithKey(inprocess.NewEndpoint(), credential, options)
	if err != nil {
		b.Fatal(err)
	}
	return client
}

// BenchmarkPointRead compares azcosmos's point reads from the engine in process with those from
// a transport with a constant answer.
func BenchmarkPointRead(b *testing.B) {
	_, engine := openFor(b, engine.Options{})
	item := fmt.Sprintf(`{"id":"p","postId":"p","type":"post","content":%q}`, bytes.Repeat([]byte("x"), 400))
	read := func(transport policy.Transporter) func() {
		client := plainClient(b, engine, transport)
		b.Cleanup(func() { client.Close() })
		container, err := client.NewContainer(cosmos.DefaultDatabase, schema.Posts)
		if err != nil {
			b.Fatal(err)
		}
		key := azcosmos.NewPartitionKeyString("p")
		if _, err := container.UpsertItem(b.Context(), key, []byte(item), nil); err != nil {
			b.Fatal(err)
		}
		return func() {
			if _, err := container.ReadItem(b.Context(), key, "p", nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	byTurns(b, 60, 500, read(&constant{next: inprocess.To(engine)}), read(inprocess.To(engine)))
}

// database is the Store to measure, and the Writer of its data.
type database struct {
	*store.Store
	bulk *bulk.Writer
}

// openFor opens an engine with a database for a benchmark.
func openFor(b *testing.B, options engine.Options) (database, *engine.Engine) {
	b.Helper()
	engine, err := engine.Open(options)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { engine.Close() })
	db, err := provision.OpenEmbedded(b.Context(), engine, cosmos.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	return database{store.New(db), bulk.New(db)}, engine
}

// postOf creates a post with a number of comments and returns its id.
func postOf(b *testing.B, s database, author *blog.User, comments int) string {
	b.Helper()
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	postID := blog.IDSource{}.NewPostID("", "")
	thread := bulk.Thread{Post: &blog.Post{ID: postID, Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: "Some content.", CreationDate: blog.NewDateTime(date)}}
	for i := range comments {
		thread.Comments = append(thread.Comments, &blog.Comment{
			ID:           blog.IDSource{}.NewCommentID("", postID, ""),
			Author:       author,
			Content:      strings.Repeat("A comment. ", 10),
			CreationDate: blog.NewDateTime(date.Add(time.Duration(i) * time.Second)),
		})
	}
	if _, err := s.bulk.WriteThread(b.Context(), thread); err != nil {
		b.Fatal(err)
	}
	return postID
}

// BenchmarkCommentsOfPosts compares pages of comments of a post with few comments and of one
// with 10,000. The compared pages have the same length.
func BenchmarkCommentsOfPosts(b *testing.B) {
	s, _ := openFor(b, engine.Options{})
	ada, err := s.CreateUser(b.Context(), storetest.Account("ada"), "Ada")
	if err != nil {
		b.Fatal(err)
	}
	few, some, many := postOf(b, s, ada, 10), postOf(b, s, ada, 20), postOf(b, s, ada, 10_000)
	page := func(post string, first int) func() {
		return func() {
			comments, err := s.Comments(b.Context(), post, blog.PageRequest{First: first})
			if err != nil || len(comments.Items) != first {
				b.Fatal(len(comments.Items), err)
			}
		}
	}
	b.Run("10of10and10of10000", func(b *testing.B) { byTurns(b, 40, 100, page(few, 10), page(many, 10)) })
	b.Run("20of20and20of10000", func(b *testing.B) { byTurns(b, 40, 100, page(some, 20), page(many, 20)) })
}

// BenchmarkGrowth compares reads from a small database with those from one that is a hundred
// times larger, on disk: random posts, and pages of 20 comments of random posts.
func BenchmarkGrowth(b *testing.B) {
	const comments = 20
	type growing struct {
		database
		posts []string
	}
	grown := func(posts int) growing {
		s, _ := openFor(b, engine.Options{Dir: b.TempDir()})
		w := growing{database: s}
		ada, err := w.CreateUser(b.Context(), storetest.Account("ada"), "Ada")
		if err != nil {
			b.Fatal(err)
		}
		for range posts {
			w.posts = append(w.posts, postOf(b, w.database, ada, comments))
		}
		return w
	}
	small, large := grown(40), grown(4000)
	random := rand.New(rand.NewPCG(1, 2))
	anyOf := func(w growing, read func(post string) error) func() {
		return func() {
			if err := read(w.posts[random.IntN(len(w.posts))]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("post", func(b *testing.B) {
		read := func(w growing) func() {
			return anyOf(w, func(id string) error { _, err := w.Post(b.Context(), id); return err })
		}
		byTurns(b, 40, 500, read(small), read(large))
	})
	b.Run("comments", func(b *testing.B) {
		page := func(w growing) func() {
			return anyOf(w, func(id string) error { _, err := w.Comments(b.Context(), id, blog.PageRequest{First: 20}); return err })
		}
		byTurns(b, 40, 100, page(small), page(large))
	})
}

// BenchmarkWriters compares one client that creates comments with 64 concurrent ones, each on
// its own post. Every commit is synced to disk. It also counts the commits per sync.
func BenchmarkWriters(b *testing.B) {
	var syncs atomic.Int64
	counted := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo {
			syncs.Add(1)
		}
		return nil
	}))
	s, _ := openFor(b, engine.Options{Dir: b.TempDir(), FS: counted})
	ada, err := s.CreateUser(b.Context(), storetest.Account("ada"), "Ada")
	if err != nil {
		b.Fatal(err)
	}
	const writers = 64
	var posts [writers]string
	for i := range posts {
		posts[i] = postOf(b, s, ada, 0)
	}
	comment := func(post string) {
		if _, err := s.CreateComment(b.Context(), ada, blog.CreateCommentInput{PostID: blog.PostRef(post), Content: "A comment."}); err != nil {
			b.Error(err)
		}
	}
	var commits, synced int64
	var used time.Duration
	alone := func() {
		for range 2 * writers {
			comment(posts[0])
		}
	}
	together := func() {
		synced -= syncs.Load()
		used -= processorTime(b)
		var all sync.WaitGroup
		for _, post := range posts {
			all.Go(func() {
				for range 16 {
					comment(post)
				}
			})
		}
		all.Wait()
		synced += syncs.Load()
		used += processorTime(b)
		commits += 16 * writers
	}
	var faster []float64
	var ones, manies []time.Duration
	for b.Loop() {
		for range 20 {
			one, many := timed(alone)/(2*writers), timed(together)/(16*writers)
			ones, manies = append(ones, one), append(manies, many)
			faster = append(faster, float64(one)/float64(many))
		}
	}
	slices.Sort(ones)
	slices.Sort(manies)
	b.ReportMetric(float64(ones[len(ones)/2].Microseconds()), "alone-µs")
	b.ReportMetric(float64(manies[len(manies)/2].Microseconds()), "together-µs")
	slices.Sort(faster)
	b.ReportMetric(faster[len(faster)/2], "median-times-faster")
	b.ReportMetric(faster[len(faster)-1], "best-times-faster")
	b.ReportMetric(float64(commits)/float64(synced), "commits/sync")
	b.ReportMetric(float64(used.Microseconds())/float64(commits), "processor-µs/commit")
	b.ReportMetric(0, "ns/op")
}

func timed(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}
