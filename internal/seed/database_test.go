package seed_test

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/go-cmp/cmp"

	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// database is an engine in memory, for one test.
type database struct {
	t      *testing.T
	engine *embedded.Engine
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(engine.Check(), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	return &database{t, engine}
}

// open opens a Store on the engine, which does not wait before it tries something again.
func (d *database) open(options store.Options) *store.Store {
	d.t.Helper()
	options.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	s, err := store.OpenEmbedded(d.t.Context(), d.engine, options)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(s.Close)
	return s
}

func (d *database) projector(s *store.Store) *projector.Projector {
	d.t.Helper()
	p, err := projector.New(projector.Options{
		Store: s, Owner: "test", TakeOver: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Wake: func(container string) (<-chan struct{}, func()) {
			written, stop, err := d.engine.Watch(store.DefaultDatabase, container)
			if err != nil {
				d.t.Error(err)
			}
			return written, stop
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *database) settle(s *store.Store) {
	d.t.Helper()
	if err := d.projector(s).SettleForTests(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// containers are those whose items are compared: all but the projector's own.
var containers = []string{"users", "posts", "feed", "usernames"}

// items gives all items, by container, id and partition key, without what the database adds to them, and without the date
// of reservations: those say when a username was taken, which is the moment of seeding.
func (d *database) items() map[string]map[string]any {
	d.t.Helper()
	credential, err := azcosmos.NewKeyCredential(d.engine.Key())
	if err != nil {
		d.t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(store.LocalEndpoint(), credential, &azcosmos.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: store.InProcess(d.engine)},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	defer client.Close()
	items := map[string]map[string]any{}
	for _, name := range containers {
		c, err := client.NewContainer(store.DefaultDatabase, name)
		if err != nil {
			d.t.Fatal(err)
		}
		pager := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil)
		for pager.More() {
			page, err := pager.NextPage(d.t.Context())
			if err != nil {
				d.t.Fatal(err)
			}
			for _, text := range page.Items {
				var item map[string]any
				if err := json.Unmarshal(text, &item); err != nil {
					d.t.Fatal(err)
				}
				maps.DeleteFunc(item, func(property string, _ any) bool { return strings.HasPrefix(property, "_") })
				if name == "usernames" {
					delete(item, "creationDate")
				}
				items[fmt.Sprint(name, " ", item["postId"], " ", item["userId"], " ", item["id"])] = item
			}
		}
	}
	return items
}

// same fails the test where two databases differ, and shows the first differences.
func same(t *testing.T, got, want map[string]map[string]any) {
	t.Helper()
	shown := 0
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if difference := cmp.Diff(want[key], got[key]); difference != "" && shown < 5 {
			shown++
			t.Errorf("%s (-want +got):\n%s", key, difference)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want[key] == nil && shown < 5 {
			shown++
			t.Errorf("%s is too much", key)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d items, not %d", len(got), len(want))
	}
}

// wire is a transport to an engine that can be cut, and can refuse.
type wire struct {
	next       policy.Transporter
	left       atomic.Int64       // requests that still reach the engine
	answerLost bool               // the first one that is cut reaches it, too
	refuse     func(n int64) bool // whether the n-th request, from 1, is throttled; nil for none
	requests   atomic.Int64
}

var errCut = errors.New("the connection was cut")

func (w *wire) Do(request *http.Request) (*http.Response, error) {
	if n := w.requests.Add(1); w.refuse != nil && w.refuse(n) {
		return &http.Response{
			StatusCode: http.StatusTooManyRequests, Status: "429 Too Many Requests", Request: request,
			Header: http.Header{"X-Ms-Retry-After-Ms": {"1"}},
			Body:   io.NopCloser(strings.NewReader(`{"code":"TooManyRequests","message":"injected"}`)),
		}, nil
	}
	switch left := w.left.Add(-1); {
	case left == -1 && w.answerLost:
		if _, err := w.next.Do(request); err != nil {
			return nil, err
		}
		return nil, errCut
	case left < 0:
		return nil, errCut
	}
	return w.next.Do(request)
}

// idStream is a source of random ids that gives the ids it was told to.
type idStream struct {
	mu   sync.Mutex
	next []byte
}

func (s *idStream) expect(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, encoded, _ := strings.Cut(id, "_")
	random, err := base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding).DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	s.next = random
}

func (s *idStream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(b, s.next)
	s.next = s.next[n:]
	return n, nil
}
