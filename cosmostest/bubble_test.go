package cosmostest_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// TestBubble runs accounts of all kinds in a bubble, with its time.
func TestBubble(t *testing.T) {
	for name, options := range map[string]cosmostest.Options{
		"memory":   {},
		"folder":   {Dir: t.TempDir()},
		"follower": {Follower: true},
		"snapshot": {Scripts: cosmostest.Scripts{Snapshot: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(t, options)
				begun := time.Now()
				s.put("ada", "brief", `"ttl":3600`)
				s.put("ada", "lasting")
				if at := s.property("ada", "brief", "_ts"); at != float64(begun.Unix()) {
					t.Errorf("_ts is %v, want %d", at, begun.Unix())
				}
				time.Sleep(time.Hour - time.Nanosecond)
				if s.ids("ada") != "brief lasting" {
					t.Errorf("before the time to live: %s", s.ids("ada"))
				}
				time.Sleep(time.Nanosecond)
				if s.ids("ada") != "lasting" {
					t.Errorf("after the time to live: %s", s.ids("ada"))
				}
				s.register("now", `function () { __.response.setBody(Date.now()) }`)
				if got := s.execute("now", "ada", "[]"); got.text != fmt.Sprint(time.Now().UnixMilli()) {
					t.Errorf("a script's time is %s, want %d", got.text, time.Now().UnixMilli())
				}
				time.Sleep(time.Hour) // the brief item is removed
			})
		})
	}
}

// TestBubbleOfRetries checks that a client's waits between its tries take no time of the test.
func TestBubbleOfRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, cosmostest.Options{})
		s.Inject(cosmostest.First(3, cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 20000")))
		options := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Retry: policy.RetryOptions{MaxRetries: 3}}}
		orders, err := s.Client(options).NewContainer("shop", "orders")
		s.must(err)
		begun := time.Now()
		_, err = orders.CreateItem(t.Context(), key("ada"), order("ada", "1"), nil)
		s.must(err)
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("the client waited for %v", waited)
		}
	})
}

// TestBubbleEnds checks that an account without a test leaves nothing running behind Close.
func TestBubbleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := cosmostest.Open(cosmostest.Options{Follower: true})
		if err != nil {
			t.Fatal(err)
		}
		client := a.Client(nil)
		if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "shop"}, nil); err != nil {
			t.Error(err)
		}
		client.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}
