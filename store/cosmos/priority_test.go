package cosmos_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// TestPriorityOfRequests checks the headers of every kind of request, of azcosmos and of scripts,
// in the foreground and in the background. Requests for metadata have none.
func TestPriorityOfRequests(t *testing.T) {
	foreground := func(ctx context.Context) context.Context { return ctx }
	for _, test := range []struct {
		name             string
		in               func(context.Context) context.Context
		bucket           int
		priority, header string
	}{
		{"foreground", foreground, 3, "", ""},
		{"background", cosmos.InBackground, 0, "Low", ""},
		{"background with a bucket", cosmos.InBackground, 3, "Low", "3"},
		{"foreground of a background", func(ctx context.Context) context.Context {
			return cosmos.InForeground(cosmos.InBackground(ctx))
		}, 3, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := withBucket(storetest.New(t), test.bucket)
			all := operations(w)
			w.Wire.Inject(nil)
			ctx := test.in(w.Ctx())
			for _, operation := range all {
				w.OK(operation.do(ctx))
			}
			ofItems := 0
			for _, request := range w.Wire.Requests() {
				priority, bucket := "", ""
				if _, ok := cosmos.TargetOf(request); ok {
					ofItems++
					priority, bucket = test.priority, test.header
				}
				if got := request.Header.Get(cosmos.PriorityHeader); got != priority {
					t.Errorf("%s %s: priority %q, want %q", request.Method, request.URL.Path, got, priority)
				}
				if got := request.Header.Get(cosmos.BucketHeader); got != bucket {
					t.Errorf("%s %s: bucket %q, want %q", request.Method, request.URL.Path, got, bucket)
				}
			}
			if ofItems < len(all) {
				t.Errorf("%d requests to items", ofItems)
			}
		})
	}
}

// withBucket returns the world of a server whose background work is in a bucket.
func withBucket(w *storetest.World, bucket int) *storetest.World {
	w.T.Helper()
	db, err := provision.OpenEmbedded(w.Ctx(), w.Account, cosmos.Options{
		Transport:        w.Wire,
		Now:              w.Clock.Now,
		BackgroundBucket: bucket,
		Sleep:            func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	w.OK(err)
	w.T.Cleanup(db.Close)
	other := *w
	other.Database = storetest.Open(db)
	return &other
}

// TestDefinitionsHaveNoPriority checks that a request of our own client for a definition is sent
// without the headers. Its charge is not the container's.
func TestDefinitionsHaveNoPriority(t *testing.T) {
	w := withBucket(storetest.New(t), 3)
	w.Wire.Inject(nil)
	_, exists, err := w.DB.ReadScript(cosmos.InBackground(w.Ctx()), schema.Scripts[0])
	if !exists || err != nil {
		t.Fatal(exists, err)
	}
	for _, request := range w.Wire.Requests() {
		if request.Header.Get(cosmos.PriorityHeader) != "" || request.Header.Get(cosmos.BucketHeader) != "" {
			t.Errorf("%s has headers of background work", request.URL.Path)
		}
	}
}

// TestBackgroundGivesWay counts how often the reads of a server are throttled while eight workers
// read as fast as the account lets them. Background work takes only what the server leaves, except
// in the first second, before which the server read nothing. In a bucket, it takes no more than the
// bucket's percentage, and its rejections do not concern the server.
func TestBackgroundGivesWay(t *testing.T) {
	throttled := map[string]int{}
	for name, work := range map[string]struct {
		in     func(context.Context) context.Context
		bucket int
	}{
		"foreground": {cosmos.InForeground, 0},
		"background": {cosmos.InBackground, 0},
		"bucket":     {cosmos.InBackground, 2},
	} {
		synctest.Test(t, func(t *testing.T) { throttled[name] = throttledBeside(t, work.in, work.bucket) })
	}
	if before, after := throttled["foreground"], throttled["background"]; before < 50 || after > before/5 {
		t.Errorf("%d requests were throttled beside background work, and %d beside other work", after, before)
	}
	if throttled["bucket"] != 0 {
		t.Errorf("%d requests were throttled beside a bucket with half of the throughput", throttled["bucket"])
	}
}

// throttledBeside reads every 50 ms for 10 s, in a bubble, beside workers that read in a context.
// It returns how many requests of its own reads were throttled.
func throttledBeside(t *testing.T, in func(context.Context) context.Context, bucket int) (count int) {
	t.Helper()
	account := cosmostest.New(t, cosmostest.Options{Throughput: 100, Buckets: map[int]float64{2: 50}})
	db, err := provision.OpenEmbedded(t.Context(), account, cosmos.Options{BackgroundBucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := store.New(db)
	user, err := s.CreateUser(t.Context(), storetest.Account("ada"), "ada")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	work, stop := context.WithCancel(in(t.Context()))
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for work.Err() == nil {
				_ = db.RetryTransient(work, func() error { _, err := s.User(work, user.ID); return err })
			}
		})
	}
	var log requestLog
	ctx := cosmos.WithRecorder(t.Context(), &log)
	for range 200 {
		_, _ = s.User(ctx, user.ID)
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	workers.Wait()
	if all, _ := db.Throttles(); all == 0 {
		t.Error("the workers were not throttled")
	}
	for _, request := range log.requests {
		if request.Status == http.StatusTooManyRequests {
			count++
		}
	}
	return count
}
