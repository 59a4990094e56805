package storetest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/cosmostest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// Divided returns a transport that requests so much throughput for each new container that it gets
// a number of feed ranges.
func Divided(next Transporter, ranges int) Transporter { return divided{next, ranges} }

type divided struct {
	next   Transporter
	ranges int
}

func (d divided) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/colls") {
		request.Header.Set("x-ms-offer-throughput", fmt.Sprint(d.ranges*10_000))
	}
	return d.next.Do(request)
}

// NewDividedWorld returns a world whose containers have four feed ranges each.
func NewDividedWorld(t *testing.T) *World {
	t.Helper()
	clock := NewStillClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	account := cosmostest.New(t, cosmostest.Options{Now: clock.Now})
	first, err := provision.OpenEmbedded(t.Context(), account, cosmos.Options{Transport: Divided(account, 4)})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	w := (&World{T: t, Account: account, Clock: clock}).Another()
	if ranges, err := w.FeedRanges(t.Context(), schema.Posts); err != nil || len(ranges) != 4 {
		t.Fatalf("%d feed ranges: %v", len(ranges), err)
	}
	return w
}
