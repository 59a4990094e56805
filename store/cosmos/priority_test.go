package cosmos_test

import (
	"context"
	"testing"
	"time"

	"cosmosblog/internal/proof/storetest"
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
