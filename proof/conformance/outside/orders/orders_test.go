package orders

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// open returns an account with an empty shop, and a session of its first client.
func open(t *testing.T, options cosmostest.Options) (*cosmostest.Account, *Store) {
	t.Helper()
	account := cosmostest.New(t, options)
	client := account.Client(ClientOptions())
	if err := Create(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	return account, session(t, client)
}

func session(t *testing.T, client *azcosmos.Client) *Store {
	t.Helper()
	store, err := New(client)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func place(t *testing.T, store *Store, orders ...Order) {
	t.Helper()
	for _, order := range orders {
		if err := store.Place(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
}

func requireOpen(t *testing.T, store *Store, customer string, want ...Order) {
	t.Helper()
	got, err := store.Open(t.Context(), customer)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s's open orders: %v %v, want %v", customer, got, err, want)
	}
}

var (
	tea    = Order{ID: "1", Customer: "ann", Product: "tea", Status: "open"}
	coffee = Order{ID: "2", Customer: "ann", Product: "coffee", Status: "open"}
	bread  = Order{ID: "3", Customer: "bob", Product: "bread", Status: "open"}
)

func TestPlaceAndRead(t *testing.T) {
	_, store := open(t, cosmostest.Options{})
	place(t, store, coffee, tea, bread)
	if got, err := store.Read(t.Context(), "ann", "2"); err != nil || got != coffee {
		t.Errorf("%v %v, want %v", got, err, coffee)
	}
	if _, err := store.Read(t.Context(), "bob", "2"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another customer's order: %v", err)
	}
	if err := store.Place(t.Context(), Order{ID: "2", Customer: "ann"}); !errors.Is(err, ErrExists) {
		t.Errorf("the id of another order: %v", err)
	}
	requireOpen(t, store, "ann", coffee, tea)
}

// TestThrottled checks that a request is repeated when the database asks for it, in the time of a
// bubble.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account, store := open(t, cosmostest.Options{})
		account.Inject(cosmostest.First(2, cosmostest.Refuse(429, "x-ms-retry-after-ms: 3000")))
		begun := time.Now()
		place(t, store, tea)
		if took := time.Since(begun); took != 6*time.Second {
			t.Errorf("took %v, want 6s", took)
		}
		if n := len(account.Requests()); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
		requireOpen(t, store, "ann", tea)
	})
}

// TestLostAnswer checks that an order is placed once if the answer to its first try is lost, also
// while a replica that does not have it yet answers reads.
func TestLostAnswer(t *testing.T) {
	for name, lost := range map[string]cosmostest.Fault{
		"cut":     cosmostest.CutAfter,
		"timeout": cosmostest.Executed(cosmostest.Refuse(408)),
	} {
		t.Run(name, func(t *testing.T) {
			account, store := open(t, cosmostest.Options{Follower: true})
			account.Follower.Hold()
			account.Inject(cosmostest.First(1, lost))
			place(t, store, tea)
			requireOpen(t, store, "ann", tea)
		})
	}
}

// TestLostRequest checks that the order of another request is not taken for one's own.
func TestLostRequest(t *testing.T) {
	account, store := open(t, cosmostest.Options{})
	place(t, store, tea)
	account.Inject(cosmostest.First(1, cosmostest.CutBefore))
	milk := Order{ID: tea.ID, Customer: "ann", Product: "milk", Status: "open"}
	if err := store.Place(t.Context(), milk); !errors.Is(err, ErrExists) {
		t.Errorf("the id of another order: %v", err)
	}
	requireOpen(t, store, "ann", tea)
}

func TestGivesUp(t *testing.T) {
	account, store := open(t, cosmostest.Options{})
	account.Inject(cosmostest.Refuse(503))
	if err := store.Place(t.Context(), tea); err == nil || len(account.Requests()) != 5 {
		t.Errorf("%d requests: %v", len(account.Requests()), err)
	}
	account.Inject(nil)
	requireOpen(t, store, "ann")
}

// TestLateReplica checks that a session sees its own writes, and that another one may not yet.
func TestLateReplica(t *testing.T) {
	account, writer := open(t, cosmostest.Options{Follower: true})
	other := session(t, account.NewTransport().Client(ClientOptions()))
	place(t, writer, tea)
	account.Follower.Hold()
	place(t, writer, coffee)
	requireOpen(t, writer, "ann", coffee, tea)
	requireOpen(t, other, "ann", tea)
	account.Follower.CatchUp()
	requireOpen(t, other, "ann", coffee, tea)
}

// TestCancelAll registers the stored procedure as the shop's deployment does, and executes it.
func TestCancelAll(t *testing.T) {
	account, store := open(t, cosmostest.Options{})
	done := Order{ID: "4", Customer: "ann", Product: "rice", Status: "done"}
	place(t, store, tea, coffee, done, bread)
	const procedures = "dbs/shop/colls/orders/sprocs"
	send(t, account, 201, procedures, fmt.Sprintf(`{"id": "cancelAll", "body": %q}`, CancelAll))
	if got := send(t, account, 200, procedures+"/cancelAll", "[]", `x-ms-documentdb-partitionkey: ["ann"]`); got != "2" {
		t.Errorf("cancelled %s, want 2", got)
	}
	if got, err := store.Read(t.Context(), "ann", tea.ID); err != nil || got.Status != "cancelled" {
		t.Errorf("%v %v, want it cancelled", got, err)
	}
	requireOpen(t, store, "ann")
	requireOpen(t, store, "bob", bread)
}

// TestCancelAllOrNone makes the second replacement fail.
func TestCancelAllOrNone(t *testing.T) {
	account, store := open(t, cosmostest.Options{Scripts: cosmostest.Scripts{Fail: func(n int) int {
		return map[int]int{3: 412}[n] // after the query and the first replacement
	}}})
	place(t, store, tea, coffee)
	const procedures = "dbs/shop/colls/orders/sprocs"
	send(t, account, 201, procedures, fmt.Sprintf(`{"id": "cancelAll", "body": %q}`, CancelAll))
	send(t, account, 400, procedures+"/cancelAll", "[]", `x-ms-documentdb-partitionkey: ["ann"]`)
	requireOpen(t, store, "ann", coffee, tea)
}

// send sends a POST, requires a status and returns the body of the answer.
func send(t *testing.T, account *cosmostest.Account, want int, path, body string, headers ...string) string {
	t.Helper()
	response, err := account.Send(t.Context(), http.MethodPost, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		t.Fatalf("%s: %d %s %v, want %d", path, response.StatusCode, text, err, want)
	}
	return string(text)
}

// TestChanges reads the changes while the range of the container is split. Each must come once.
func TestChanges(t *testing.T) {
	account, store := open(t, cosmostest.Options{})
	var want, got []string
	write := func(count int) {
		for range count {
			order := Order{ID: fmt.Sprint(len(want)), Customer: fmt.Sprint("customer ", len(want)), Status: "open"}
			place(t, store, order)
			want = append(want, order.ID)
		}
	}
	position := ""
	read := func(pages int) {
		for range pages {
			changed, next, err := store.Changes(t.Context(), position)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range changed {
				got = append(got, order.ID)
			}
			position = next
		}
	}

	write(10)
	read(1)
	if err := account.Split("shop", "orders", "0"); err != nil {
		t.Fatal(err)
	}
	write(10)
	read(2)
	write(1)
	read(10) // more pages than there are
	slices.Sort(want)
	slices.Sort(got) // the order of the changes of two ranges is undefined
	if !slices.Equal(got, want) {
		t.Errorf("got the changes of %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
	}
	if ranges, err := store.items.ReadFeedRanges(t.Context(), nil); err != nil || len(ranges) != 2 {
		t.Errorf("%d ranges %v, want 2", len(ranges), err)
	}
}

func TestReservationsExpire(t *testing.T) {
	clock := cosmostest.NewClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	_, store := open(t, cosmostest.Options{Now: clock.Now})
	reserved := tea
	reserved.Seconds = 600
	place(t, store, reserved, coffee)
	clock.Advance(9 * time.Minute)
	requireOpen(t, store, "ann", coffee, reserved)
	clock.Advance(2 * time.Minute)
	requireOpen(t, store, "ann", coffee)
	if _, err := store.Read(t.Context(), "ann", tea.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("an expired reservation: %v", err)
	}
}

// TestOverAPort uses a client that knows nothing of cosmostest.
func TestOverAPort(t *testing.T) {
	account, _ := open(t, cosmostest.Options{})
	endpoint, key := account.Serve()
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, ClientOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	store := session(t, client)
	account.Inject(cosmostest.First(1, cosmostest.CutAfter))
	place(t, store, tea)
	requireOpen(t, store, "ann", tea)
	if n := len(account.Requests()); n < 3 {
		t.Errorf("%d requests, so no answer was lost", n)
	}
}
