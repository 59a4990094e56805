package cosmos_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
)

// echo is a stored procedure that only answers.
var echo = cosmos.Script{ID: "echo", Container: "notes", Body: `function (x) { __.response.setBody(x) }`}

// newNotes returns a database with the container notes, in which echo is registered.
func newNotes(t *testing.T, options cosmos.Options) *cosmos.DB {
	t.Helper()
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := db.Client().CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: db.Name()}, nil); err != nil {
		t.Fatal(err)
	}
	database, err := db.Client().NewDatabase(db.Name())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "notes",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{"/pk"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.RegisterScript(t.Context(), echo); err != nil {
		t.Fatal(err)
	}
	return db
}

// notesWrites are the ways to write: by azcosmos, and by our own client.
var notesWrites = map[string]func(context.Context, *cosmos.DB) error{
	"item": func(ctx context.Context, db *cosmos.DB) error {
		_, err := cosmos.Create(ctx, db.Container("notes"), "p", map[string]any{"id": time.Now().String(), "pk": "p"})
		return err
	},
	"execution": func(ctx context.Context, db *cosmos.DB) error {
		_, err := db.Execute(ctx, echo, "p", 1, nil)
		return err
	},
}

// TestConflicts checks that a write whose transaction conflicts is repeated until its deadline, and
// for 10 s without one. The service must leave that to us: its gateway repeats a 449 itself for up
// to 30 s, longer than a command lasts, unless x-ms-noretry-449 is True (azure-cosmos-dotnet-v3,
// pull request 5990, GatewayStoreModel.DispatchAsync; azure-sdk-for-java, pull request 49332).
func TestConflicts(t *testing.T) {
	for way, write := range notesWrites {
		for _, test := range []struct {
			name               string
			conflicts, timeout time.Duration // no timeout: 0
			fails              bool
			least, most        time.Duration // of the whole write
		}{
			{"one", time.Millisecond, 10 * time.Second, false, 0, 20 * time.Millisecond},
			{"long", 5 * time.Second, 10 * time.Second, false, 5 * time.Second, 7 * time.Second},
			{"to the deadline", time.Hour, 10 * time.Second, true, 8 * time.Second, 10*time.Second - 1},
			{"to a later deadline", time.Hour, 20 * time.Second, true, 18 * time.Second, 20*time.Second - 1},
			{"without a deadline", time.Hour, 0, true, 8 * time.Second, 10 * time.Second},
		} {
			t.Run(way+" "+test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					account := cosmostest.New(t, cosmostest.Options{})
					db := newNotes(t, cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: account.Key(), Transport: account})
					begun := time.Now()
					account.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
						if time.Since(begun) < test.conflicts {
							return cosmostest.Refuse(cosmos.StatusRetryWith)(n, request, next)
						}
						return next.Do(request)
					})
					ctx := t.Context()
					if test.timeout > 0 {
						limited, cancel := context.WithTimeout(ctx, test.timeout)
						defer cancel()
						ctx = limited
					}
					err := write(ctx, db)
					took := time.Since(begun)
					if test.fails && blog.CodeOf(err) != blog.Throttled || !test.fails && err != nil {
						t.Errorf("after %v: %v", took, err)
					}
					if took < test.least || took > test.most {
						t.Errorf("it took %v, not between %v and %v", took, test.least, test.most)
					}
					if tries := len(account.Requests()); tries > 35 {
						t.Errorf("%d tries", tries)
					}
				})
			})
		}
	}
}
