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
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/go-cmp/cmp"

	"cosmosblog/cosmostest"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/views"
)

// database is an engine in memory, for one test.
type database struct {
	t      *testing.T
	engine *cosmostest.Account
	clock  *storetest.StillClock // of the engine
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	clock := storetest.NewStillClock(time.Now())
	engine := cosmostest.New(t, cosmostest.Options{Now: clock.Now})
	return &database{t, engine, clock}
}

// open opens the engine's database. It retries without waiting.
func (d *database) open(options cosmos.Options) *cosmos.DB {
	d.t.Helper()
	options.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	db, err := provision.OpenEmbedded(d.t.Context(), d.engine, options)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(db.Close)
	return db
}

func (d *database) projector(db *cosmos.DB) *projector.Projector {
	d.t.Helper()
	p, err := projector.New(projector.Options{
		DB: db, Owner: "test", TakeOver: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Wake: func(container string) (<-chan struct{}, func()) {
			written, stop, err := d.engine.Watch(cosmos.DefaultDatabase, container)
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

func (d *database) settle(db *cosmos.DB) {
	d.t.Helper()
	if err := d.projector(db).SettleForTests(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// containers are the compared containers: all except the projector's own.
var containers = []string{"users", "posts", "feed", "usernames", "lists"}

// items returns all items by container, partition key and id. It omits the properties that the
// database adds, the dates of reservations, which are those of the seeding, the revisions in lists,
// which depend on when the items were written, and of feed all but the newest live copies: when it
// was trimmed decides on the others.
func (d *database) items() map[string]map[string]any {
	d.t.Helper()
	client := d.engine.Client(nil)
	items := map[string]map[string]any{}
	for _, name := range containers {
		c, err := client.NewContainer(cosmos.DefaultDatabase, name)
		if err != nil {
			d.t.Fatal(err)
		}
		query, key := "SELECT * FROM c", azcosmos.NewPartitionKey()
		if name == "feed" {
			query = fmt.Sprintf("SELECT TOP %d * FROM c WHERE c.deleted = false ORDER BY c.deleted, c.sortKey DESC", views.FeedCapacity)
			key = azcosmos.NewPartitionKeyString("post")
		}
		pager := c.NewQueryItemsPager(query, key, nil)
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
				delete(item, "arrivalDate")
				switch name {
				case "usernames":
					delete(item, "creationDate")
				case "lists":
					delete(item, "revision")
				}
				items[fmt.Sprint(name, " ", item["list"], " ", item["postId"], " ", item["userId"], " ", item["id"])] = item
			}
		}
	}
	return items
}

// requireEqual fails the test if two databases differ, and shows the first differences.
func requireEqual(t *testing.T, got, want map[string]map[string]any) {
	t.Helper()
	shown := 0
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if shown < 5 && !reflect.DeepEqual(want[key], got[key]) {
			shown++
			t.Errorf("%s (-want +got):\n%s", key, cmp.Diff(want[key], got[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want[key] == nil && shown < 5 {
			shown++
			t.Errorf("%s is unexpected", key)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d items, not %d", len(got), len(want))
	}
}

// wire is a transport to an engine that can lose its connection and throttle requests.
type wire struct {
	next       policy.Transporter
	left       atomic.Int64       // requests until the connection is lost
	answerLost bool               // the first lost request reaches the engine, only its response is lost
	throttles  func(n int64) bool // reports whether request n, from 1, is throttled; may be nil
	requests   atomic.Int64
}

var errConnectionLost = errors.New("the connection was lost")

func (w *wire) Do(request *http.Request) (*http.Response, error) {
	if n := w.requests.Add(1); w.throttles != nil && w.throttles(n) {
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
		return nil, errConnectionLost
	case left < 0:
		return nil, errConnectionLost
	}
	return w.next.Do(request)
}

// idStream is a random source that makes an IDSource return expected ids.
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
