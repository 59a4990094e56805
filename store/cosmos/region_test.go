package cosmos_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
)

// newRegions returns a database of an account with two regions. The context ends as an operation's
// does.
func newRegions(t *testing.T) (*cosmostest.Account, *cosmos.DB, func() context.Context) {
	t.Helper()
	account := cosmostest.New(t, cosmostest.Options{Regions: true})
	db := newNotes(t, cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: account.Key(), Transport: account})
	return account, db, func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		t.Cleanup(cancel)
		return ctx
	}
}

// TestFailover checks that requests find the region that writes, after each of several failovers in
// a row. The former region answers writes with 403/3 or everything with 403/1008, or not at all
// ("HTTP status codes for Azure Cosmos DB"; "Troubleshoot the availability of Azure Cosmos DB SDKs
// in multiregional environments"). azcosmos 1.5.0 reads the account again only at the configured
// endpoint, by connections that may lead to the former region, and not for a region that was marked
// within five minutes (cosmos_client_retry_policy.go, cosmos_location_cache.go).
func TestFailover(t *testing.T) {
	ways := map[string]func(context.Context, *cosmos.DB) error{
		"read": func(ctx context.Context, db *cosmos.DB) error {
			_, err := cosmos.Query[map[string]any](ctx, db.Container("notes"), "p", "SELECT * FROM c", 10)
			return err
		},
		"definition": func(ctx context.Context, db *cosmos.DB) error {
			_, err := db.RegisterScript(ctx, echo)
			return err
		},
	}
	for way, write := range notesWrites {
		ways[way] = write
	}
	for way, send := range ways {
		for name, state := range map[string]cosmostest.RegionState{
			"online": cosmostest.Online, "removed": cosmostest.Removed, "unreachable": cosmostest.Unreachable,
		} {
			t.Run(fmt.Sprint(way, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					account, db, operation := newRegions(t)
					for i := range 6 {
						account.FailRegion(state)
						account.Failover()
						begun := time.Now()
						if err := send(operation(), db); err != nil {
							t.Errorf("after failover %d and %v: %v", i+1, time.Since(begun), err)
						}
						if took := time.Since(begun); took > time.Second {
							t.Errorf("after failover %d, a request took %v", i+1, took)
						}
						time.Sleep(time.Minute)
					}
				})
			})
		}
	}
}

// TestFailoverOfRemovedRegion checks that requests find a region that was removed, and then added
// again, when the only other region does not answer.
func TestFailoverOfRemovedRegion(t *testing.T) {
	for way, write := range notesWrites {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				account, db, operation := newRegions(t)
				for _, state := range []cosmostest.RegionState{cosmostest.Removed, cosmostest.Unreachable} {
					account.FailRegion(state)
					account.Failover()
					if err := write(operation(), db); err != nil {
						t.Errorf("after %v: %v", state, err)
					}
					time.Sleep(2 * time.Second)
				}
			})
		})
	}
}

// TestFailoverOfSilentRegion checks that only requests that were sent before a failover wait in
// vain for a region that is cut off, where connections stay open and nothing answers. azcosmos
// 1.5.0 draws no conclusion from a request whose deadline passed (cosmos_client_retry_policy.go).
func TestFailoverOfSilentRegion(t *testing.T) {
	for way, write := range notesWrites {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				account, db, operation := newRegions(t)
				account.Failover()
				account.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
					if strings.HasPrefix(request.URL.Host, "east-us.") {
						return cosmostest.Silence(n, request, next)
					}
					return next.Do(request)
				})
				var first sync.WaitGroup
				first.Go(func() {
					if err := write(operation(), db); err == nil {
						t.Error("the silent region answered")
					}
				})
				time.Sleep(6 * time.Second)
				begun := time.Now()
				if err := write(operation(), db); err != nil || time.Since(begun) > time.Second {
					t.Errorf("after %v: %v", time.Since(begun), err)
				}
				first.Wait()
			})
		})
	}
}

// TestFailoverIsLate checks that writes wait for a region that writes, until their deadline.
func TestFailoverIsLate(t *testing.T) {
	for way, write := range notesWrites {
		for _, substatus := range []string{"3", "1008"} {
			for _, late := range []time.Duration{3 * time.Second, time.Hour} {
				t.Run(fmt.Sprint(way, " ", substatus, " ", late), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						account, db, operation := newRegions(t)
						begun := time.Now()
						account.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
							if time.Since(begun) < late {
								return cosmostest.Refuse(http.StatusForbidden, "x-ms-substatus: "+substatus)(n, request, next)
							}
							return next.Do(request)
						})
						err := write(operation(), db)
						took := time.Since(begun)
						switch {
						case late < time.Minute && (err != nil || took > 5*time.Second):
							t.Errorf("after %v: %v", took, err)
						case late > time.Minute && (blog.CodeOf(err) != blog.Unavailable || took < 8*time.Second || took >= 10*time.Second):
							t.Errorf("after %v: %v", took, err)
						}
						if tries := len(account.Requests()); tries > 20 {
							t.Errorf("%d tries", tries)
						}
					})
				})
			}
		}
	}
}
