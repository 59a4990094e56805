package cosmostest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

func TestAccountKeepsItems(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	wantStatus(t, "create", s.add("ada", "1"), http.StatusOK)
	wantStatus(t, "create again", s.add("ada", "1"), http.StatusConflict)
	if !s.has("ada", "1") || s.has("bob", "1") || s.ids("ada") != "1" {
		t.Error("a read returned something else")
	}
}

func TestFolderSurvives(t *testing.T) {
	dir := t.TempDir()
	first, err := cosmostest.Open(cosmostest.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, first.Transport)
	c.provision(1)
	c.put("ada", "1")
	c.register("nothing", "function () {}")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second := cosmostest.New(t, cosmostest.Options{Dir: dir, Key: first.Key()})
	if second.Key() != first.Key() {
		t.Error("the account has another key")
	}
	c = newClient(t, second.Transport)
	if !c.has("ada", "1") {
		t.Error("the item is lost")
	}
	c.expect(http.StatusOK, c.execute("nothing", "ada", "[]"))
}

func TestOpenErrors(t *testing.T) {
	if _, err := cosmostest.Open(cosmostest.Options{Key: "not base64!"}); err == nil {
		t.Error("a key that is not base64 was accepted")
	}
	dir := t.TempDir()
	cosmostest.New(t, cosmostest.Options{Dir: dir})
	for _, follower := range []bool{false, true} {
		if a, err := cosmostest.Open(cosmostest.Options{Dir: dir, Follower: follower}); err == nil {
			a.Close()
			t.Error("a folder was opened twice")
		}
	}
}

func TestClosedAccount(t *testing.T) {
	for _, options := range []cosmostest.Options{{}, {Follower: true}} {
		s := newShop(t, options)
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		wantStatus(t, "a read of a closed account", s.tryGet("ada", "1"), http.StatusServiceUnavailable)
		if err := s.Split("shop", "orders", "0"); err == nil {
			t.Error("a closed account was split")
		}
	}
}

func TestKeyOfAnotherAccount(t *testing.T) {
	s, other := newShop(t, cosmostest.Options{}), cosmostest.New(t, cosmostest.Options{})
	if s.Key() == other.Key() {
		t.Fatal("two accounts have the same random key")
	}
	credential, err := azcosmos.NewKeyCredential(other.Key())
	s.must(err)
	options := *patient
	options.Transport = s.Account
	stranger, err := azcosmos.NewClientWithKey("http://anything.invalid", credential, &options)
	s.must(err)
	defer stranger.Close()
	database, err := stranger.NewDatabase("shop")
	s.must(err)
	_, err = database.Read(t.Context(), nil)
	wantStatus(t, "a read with a foreign key", err, http.StatusUnauthorized)
}

// TestEntra checks that a token of Entra ID may read items only with Options.Entra, and never
// definitions of scripts.
func TestEntra(t *testing.T) {
	const token = "Authorization: type%3Daad%26ver%3D1.0%26sig%3Da.b.c"
	with, without := newShop(t, cosmostest.Options{Entra: true}), newShop(t, cosmostest.Options{})
	with.put("ada", "1")
	with.expect(http.StatusOK, with.rest("GET", docs+"/1", "", of("ada"), token))
	with.expect(http.StatusForbidden, with.rest("GET", sprocs, "", token))
	without.put("ada", "1")
	without.expect(http.StatusUnauthorized, without.rest("GET", docs+"/1", "", of("ada"), token))
}

// TestNow checks that Options.Now decides what expires, and the times of items and scripts.
func TestNow(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s := newShop(t, cosmostest.Options{Now: clock.Now})
	s.put("ada", "brief", `"ttl":60`)
	s.put("ada", "lasting")
	clock.Advance(59 * time.Second)
	if s.ids("ada") != "brief lasting" {
		t.Errorf("after 59 s: %s", s.ids("ada"))
	}
	if at := s.property("ada", "brief", "_ts"); at != float64(noon.Unix()) {
		t.Errorf("_ts is %v", at)
	}
	clock.Advance(time.Second)
	if s.ids("ada") != "lasting" {
		t.Errorf("after 60 s: %s", s.ids("ada"))
	}
	s.register("now", "function () { __.response.setBody(new Date().toISOString()) }")
	if got := s.expect(http.StatusOK, s.execute("now", "ada", "[]")); got.text != `"2026-03-04T12:01:00.000Z"` {
		t.Errorf("a script's time is %s", got.text)
	}
}

func TestTransportsAreSeparate(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	other := newClient(t, s.NewTransport())
	s.Inject(cosmostest.Refuse(http.StatusServiceUnavailable))
	other.transport.Inject(nil)
	wantStatus(t, "the client with a fault", s.tryPut("ada", "1"), http.StatusServiceUnavailable)
	wantStatus(t, "the other client", other.tryPut("ada", "2"), http.StatusOK)
	other.put("ada", "3")
	if len(s.Requests()) != 1 || len(other.transport.Requests()) != 2 {
		t.Errorf("%d and %d requests, want 1 and 2", len(s.Requests()), len(other.transport.Requests()))
	}
	s.Inject(nil)
	if s.ids("ada") != "2 3" || len(s.Requests()) != 1 {
		t.Errorf("after the fault: %s, %d requests", s.ids("ada"), len(s.Requests()))
	}
}

// TestRecord checks that requests are recorded from the first Inject on, with those that a fault
// refused, and that a caller's slice does not grow.
func TestRecord(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.put("ada", "1")
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests before the first Inject", n)
	}
	s.Inject(cosmostest.Nth(2, cosmostest.CutBefore))
	s.put("ada", "2")
	if err := s.tryPut("ada", "3"); !errors.Is(err, cosmostest.ErrCut) {
		t.Errorf("the second request: %v", err)
	}
	s.put("ada", "4")
	kept := s.Requests()
	s.put("ada", "5")
	var sent []string
	for _, request := range s.Requests() {
		sent = append(sent, request.Method+" "+request.URL.Path)
	}
	if want := strings.Repeat("POST /"+docs+" ", 4); strings.Join(sent, " ")+" " != want {
		t.Errorf("recorded %v", sent)
	}
	if len(kept) != 3 || len(append(kept, nil)) != 4 || s.Requests()[3] == nil {
		t.Error("a returned slice is shared with the record")
	}
	if s.Inject(nil); len(s.Requests()) != 0 {
		t.Error("Inject kept the old record")
	}
}

// TestDefinitionsPass checks that requests to definitions are neither recorded nor faulted.
func TestDefinitionsPass(t *testing.T) {
	a := cosmostest.New(t, cosmostest.Options{})
	c := newClient(t, a.Transport)
	a.Inject(cosmostest.CutBefore)
	c.provision(1) // reads the account, creates a database and a container
	_, err := c.orders.Read(t.Context(), nil)
	c.must(err)
	_, err = c.orders.ReadThroughput(t.Context(), nil)
	c.must(err)
	c.register("nothing", "function () {}")
	for _, path := range []string{"", "dbs", "dbs/shop", "dbs/shop/colls", orders, orders + "/pkranges", sprocs, sprocs + "/nothing", orders + "/triggers"} {
		c.expect(http.StatusOK, c.rest("GET", path, ""))
	}
	c.expect(http.StatusOK, c.rest("PUT", sprocs+"/nothing", `{"id":"nothing","body":"function () {}"}`))
	if n := len(a.Requests()); n != 0 {
		t.Errorf("%d requests are recorded", n)
	}
	for _, request := range [][2]string{{"POST", docs}, {"GET", docs}, {"GET", docs + "/1"}, {"PUT", docs + "/1"}, {"PATCH", docs + "/1"},
		{"DELETE", docs + "/1"}, {"POST", sprocs + "/nothing"}} {
		if _, err := a.Send(t.Context(), request[0], request[1], "{}", of("ada")); !errors.Is(err, cosmostest.ErrCut) {
			t.Errorf("%v passed: %v", request, err)
		}
	}
	c.expect(http.StatusNoContent, c.rest("DELETE", sprocs+"/nothing", ""))
	if n := len(a.Requests()); n != 7 {
		t.Errorf("%d requests are recorded, want 7", n)
	}
}

// TestClientOptions checks that Client works without options, and does not change the caller's.
func TestClientOptions(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	options := &azcosmos.ClientOptions{EnableContentResponseOnWrite: true}
	for _, test := range []struct {
		options *azcosmos.ClientOptions
		body    bool
	}{{nil, false}, {options, true}} {
		orders, err := s.Client(test.options).NewContainer("shop", "orders")
		s.must(err)
		got, err := orders.UpsertItem(t.Context(), key("ada"), order("ada", "1"), nil)
		s.must(err)
		if (len(got.Value) > 0) != test.body {
			t.Errorf("the answer is %q", got.Value)
		}
	}
	if options.Transport != nil {
		t.Error("Client changed the caller's options")
	}
}

// TestClientOutsideTest checks that an account without a test has clients, which the caller closes.
func TestClientOutsideTest(t *testing.T) {
	a, err := cosmostest.Open(cosmostest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	client := a.Client(nil)
	defer client.Close()
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "shop"}, nil); err != nil {
		t.Error(err)
	}
}

// TestContainer checks that Container creates what is missing, and keeps what exists.
func TestContainer(t *testing.T) {
	for _, options := range []cosmostest.Options{{}, {Follower: true}, {Throughput: 1}} {
		a := cosmostest.New(t, options)
		first, second := a.Container("shop", "orders", "/customer"), a.Container("shop", "orders", "/customer")
		_, err := first.CreateItem(t.Context(), key("ada"), order("ada", "1"), nil)
		wantStatus(t, "a create", err, http.StatusOK)
		if options.Throughput == 0 {
			_, err = second.ReadItem(t.Context(), key("ada"), "1", nil)
			wantStatus(t, "a read by another client", err, http.StatusOK)
		}
		items, err := a.Container("shop", "items", "/part/id").Read(t.Context(), nil)
		if err != nil || items.ContainerProperties.PartitionKeyDefinition.Paths[0] != "/part/id" || items.ContainerProperties.PartitionKeyDefinition.Version != 2 {
			t.Errorf("another container of the database: %+v %v", items.ContainerProperties, err)
		}
		if again, err := a.Container("shop", "orders", "/other").Read(t.Context(), nil); err != nil || again.ContainerProperties.PartitionKeyDefinition.Paths[0] != "/customer" {
			t.Errorf("an existing container was replaced: %v %v", again, err)
		}
	}
}

// TestContainerRefused checks that the account's refusal is not lost. Within a test, it would end
// the test.
func TestContainerRefused(t *testing.T) {
	a, err := cosmostest.Open(cosmostest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, names := range [][3]string{{"", "orders", "/customer"}, {"shop", "a/b", "/customer"}, {"shop", "orders", "customer"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was accepted", names)
				}
			}()
			a.Container(names[0], names[1], names[2])
		}()
	}
}

// TestFollowerNeedsEmptyAccount checks that a follower of existing data is refused.
func TestFollowerNeedsEmptyAccount(t *testing.T) {
	dir := t.TempDir()
	first := cosmostest.New(t, cosmostest.Options{Dir: dir, Follower: true})
	first.Container("shop", "orders", "/customer")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err := cosmostest.Open(cosmostest.Options{Dir: dir, Follower: true}); err == nil {
		t.Errorf("a follower of a folder with data was accepted: %v", a.Close())
	}
	cosmostest.New(t, cosmostest.Options{Dir: dir, Key: first.Key()}).Container("shop", "orders", "/customer")
}

// TestInvalidIndexPathIsRefused creates a container whose index path lacks its end, as a user would
// who forgets it (Azure Cosmos DB's documentation of indexing policies, "Including and excluding
// property paths": a path to a scalar ends with /?).
func TestInvalidIndexPathIsRefused(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	database, err := s.azcosmos.NewDatabase("shop")
	s.must(err)
	_, err = database.CreateContainer(t.Context(), azcosmos.ContainerProperties{
		ID:                     "returns",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/customer"}},
		IndexingPolicy: &azcosmos.IndexingPolicy{
			IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}, {Path: "/total"}},
		},
	}, nil)
	if refused := refusal(t, err); refused.StatusCode != http.StatusBadRequest {
		t.Errorf("the answer is %s", refused.Status)
	}
	if text := err.Error(); !strings.Contains(text, "/total") || !strings.Contains(text, "could not be accepted") {
		t.Errorf("the error does not name the path: %s", text)
	}
}
