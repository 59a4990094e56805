package projector_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/store/schema"
)

const (
	changesToProject = 3000
	timeOfLag        = 5 * time.Second // during which posts arrive at half of the rate
	writersAtOnce    = 16
)

// BenchmarkProjectors measures how many existing posts are projected per second, each into its
// author's list, and into the feed if it is among the newest, and the processor time of each. Then
// it measures how long a post is missing in its author's list while posts arrive at half of that
// rate. Engine, writers and projectors are in one process; the engine is on disk.
func BenchmarkProjectors(b *testing.B) {
	for _, ranges := range rangeCounts {
		for _, n := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("ranges=%d/projectors=%d", ranges, n), func(b *testing.B) {
				var rates, times, lags []float64
				for range b.N {
					r := newRace(b, ranges, n)
					used := processorTime(b)
					rates = append(rates, r.catchUp())
					times = append(times, float64((processorTime(b)-used).Microseconds())/changesToProject)
					lags = append(lags, r.keepUp(rates[len(rates)-1]/2)...)
					r.end()
				}
				slices.Sort(rates)
				slices.Sort(times)
				slices.Sort(lags)
				b.ReportMetric(rates[len(rates)/2], "changes/s")
				b.ReportMetric(times[len(times)/2], "cpu-us/change")
				b.ReportMetric(lags[len(lags)/2], "p50-ms")
				b.ReportMetric(lags[len(lags)*99/100], "p99-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkLikedPosts measures how many existing posts are projected per second after each got
// a like, and the processor time of each. Few of them are in the feed.
func BenchmarkLikedPosts(b *testing.B) {
	var rates, times []float64
	for range b.N {
		w := newWorldOn(b, 1, cosmostest.Options{Dir: b.TempDir()})
		var posts []*blog.Post
		for range writersAtOnce {
			posts = append(posts, w.posts(w.user(), changesToProject/writersAtOnce)...)
		}
		liker := w.user()
		w.settle()
		for _, post := range posts {
			w.like(liker, post)
		}
		used, begun := processorTime(b), time.Now()
		w.must(w.projector(w.store).SettleForTests(w.Context()))
		rates = append(rates, float64(len(posts))/time.Since(begun).Seconds())
		times = append(times, float64((processorTime(b)-used).Microseconds())/float64(len(posts)))
	}
	slices.Sort(rates)
	slices.Sort(times)
	b.ReportMetric(rates[len(rates)/2], "changes/s")
	b.ReportMetric(times[len(times)/2], "cpu-us/change")
	b.ReportMetric(0, "ns/op")
}

// race is a set of projectors and their work.
type race struct {
	*world
	writers []*blog.User
	stops   []func()
	begin   chan struct{} // closed when the projectors may read posts

	mu      sync.Mutex // guards the fields below
	written map[string]time.Time
	lags    []float64 // ms
	left    int       // posts missing in their author's list
	done    chan struct{}
}

// newRace writes posts, and starts projectors that share all leases before they read the posts.
func newRace(b *testing.B, ranges, n int) *race {
	b.Helper()
	r := &race{world: newWorldOn(b, ranges, cosmostest.Options{Dir: b.TempDir()}), begin: make(chan struct{}), written: map[string]time.Time{}}
	for range writersAtOnce {
		r.writers = append(r.writers, r.user())
	}
	r.expect(changesToProject)
	var group sync.WaitGroup
	for _, writer := range r.writers {
		group.Go(func() { r.posts(writer, changesToProject/writersAtOnce) })
	}
	group.Wait()
	for range n {
		r.launch()
	}
	r.until(func() bool {
		shares := r.loads()
		return len(shares) == n && shares[n-1]-shares[0] <= 1
	})
	return r
}

// launch starts a projector that balances often, but reads no posts yet.
func (r *race) launch() {
	way := &raceTransport{next: inprocess.To(r.engine), race: r}
	opened := r.open(way)
	way.opened.Store(true)
	_, stop := r.run(opened, func(o *projector.Options) {
		o.TakeOver, o.Wake = false, r.wake
		o.Renew, o.Expire, o.Balance = 2*time.Second, time.Minute, 20*time.Millisecond
	})
	r.stops = append(r.stops, stop)
}

func (r *race) expect(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.done = n/writersAtOnce*writersAtOnce, make(chan struct{})
}

// catchUp lets the projectors read, and returns how many changes they project per second.
func (r *race) catchUp() float64 {
	begun := time.Now()
	close(r.begin)
	<-r.done
	return changesToProject / time.Since(begun).Seconds()
}

// keepUp writes posts at a rate, and returns for how many milliseconds each was missing in its
// author's list.
func (r *race) keepUp(rate float64) []float64 {
	n := int(rate*timeOfLag.Seconds()) / writersAtOnce
	r.expect(n * writersAtOnce)
	r.mu.Lock()
	r.lags = nil
	r.mu.Unlock()
	var group sync.WaitGroup
	for _, writer := range r.writers {
		group.Go(func() {
			next := time.Now().Add(time.Duration(rand.Int64N(int64(time.Second * writersAtOnce / time.Duration(rate)))))
			for range n {
				time.Sleep(time.Until(next))
				next = next.Add(time.Duration(float64(time.Second) * writersAtOnce / rate))
				r.acknowledged(r.post(writer).ID)
			}
		})
	}
	group.Wait()
	<-r.done
	return r.lags
}

// acknowledged and projected are called in any order for a post.
func (r *race) acknowledged(post string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.written[post]; ok { // it was in the list before the writer got its answer
		r.lags = append(r.lags, 0)
		return
	}
	r.written[post] = time.Now()
}

func (r *race) projected(post string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.written[post]; ok {
		r.lags = append(r.lags, float64(time.Since(at).Microseconds())/1000)
	} else {
		r.written[post] = time.Time{}
	}
	if r.left--; r.left == 0 {
		close(r.done)
	}
}

func (r *race) end() {
	for _, stop := range r.stops {
		stop()
	}
}

// raceTransport sends the requests of a projector to the engine. It holds back reads of posts until
// the race begins, and records which posts are added to lists.
type raceTransport struct {
	next   policy.Transporter
	opened atomic.Bool // set when the database is open; opening it also reads change feeds
	*race
}

var idOfCopy = regexp.MustCompile(`"id":"(p_[^"]+)"`)

func (w *raceTransport) Do(request *http.Request) (*http.Response, error) {
	switch {
	case w.opened.Load() && request.Header.Get("A-Im") != "" && containerOf(request) == schema.Posts:
		<-w.begin
	case request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" && containerOf(request) == schema.Users:
		return w.copies(request)
	}
	return w.next.Do(request)
}

func (w *raceTransport) copies(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	response, err := w.next.Do(request)
	if err == nil && response.StatusCode == http.StatusOK {
		ids := map[string]bool{} // of one copy or several
		for _, id := range idOfCopy.FindAllSubmatch(body, -1) {
			ids[string(id[1])] = true
		}
		for id := range ids {
			w.projected(id)
		}
	}
	return response, err
}
