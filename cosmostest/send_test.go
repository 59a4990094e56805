package cosmostest_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
)

func TestSendExecutesProcedure(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.register("add", `function (id, customer) {
		var c = getContext().getCollection();
		c.createDocument(c.getSelfLink(), {id: id, customer: customer}, function (err, item) {
			if (err) throw err;
			__.response.setBody(item.id);
		});
	}`)
	if got := s.expect(http.StatusOK, s.execute("add", "ada", `["1","ada"]`)); got.text != `"1"` {
		t.Errorf("the answer is %s", got.text)
	}
	if s.ids("ada") != "1" {
		t.Errorf("the items are %q", s.ids("ada"))
	}
	s.expect(http.StatusBadRequest, s.execute("add", "ada", `["1","ada"]`)) // exists
	s.expect(http.StatusNotFound, s.execute("none", "ada", `[]`))
}

func TestSendRunsTrigger(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.expect(http.StatusCreated, s.rest("POST", orders+"/triggers", `{"id":"stamp","triggerType":"Pre","triggerOperation":"All","body":
		"function () { var r = __.request, item = r.getBody(); item.stamped = true; r.setBody(item) }"}`))
	s.expect(http.StatusCreated, s.rest("POST", docs, string(order("ada", "1")), of("ada"), "x-ms-documentdb-pre-trigger-include: stamp"))
	if s.property("ada", "1", "stamped") != true {
		t.Error("the trigger did not run")
	}
}

// TestSendSigns checks the signatures of lists and resources, whose links differ.
func TestSendSigns(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.put("ada", "1")
	s.register("nothing", "function () {}")
	for _, path := range []string{"", "dbs", "dbs/shop", "dbs/shop/colls", orders, orders + "/pkranges", docs, docs + "/1", sprocs, sprocs + "/nothing", "offers"} {
		s.expect(http.StatusOK, s.rest("GET", path, "", of("ada")))
	}
	s.expect(http.StatusNoContent, s.rest("DELETE", docs+"/1", "", of("ada")))
	s.expect(http.StatusUnauthorized, s.rest("GET", docs, "", of("ada"), "Authorization: other"))
}

// TestSendSignsOffer checks that the id of an offer is signed in lower case.
func TestSendSignsOffer(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	list := s.expect(http.StatusOK, s.rest("GET", "offers", ""))
	_, id, _ := strings.Cut(list.text, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if strings.ToLower(id) == id {
		t.Fatalf("the id %q has no upper case letter", id)
	}
	s.expect(http.StatusOK, s.rest("GET", "offers/"+id, ""))
}

// TestSendSignsEscapedIDs checks that the names of a signature are those of the path without its
// percent-encoding.
func TestSendSignsEscapedIDs(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	for _, id := range []string{"a b", "é", "50%", "a+b", "a&b=c", `"quoted"`} {
		s.put("ada", id)
		s.expect(http.StatusOK, s.rest("GET", docs+"/"+url.PathEscape(id), "", of("ada")))
	}
	s.put("ada", "%41") // as on the service, whose gateway would sign A
	s.expect(http.StatusUnauthorized, s.rest("GET", docs+"/%2541", "", of("ada")))
	s.put("ada", "ü ö")
	s.expect(http.StatusOK, s.rest("GET", docs+"/ü ö", "", of("ada"))) // a path that needs an escape
}

// TestSendHeaders checks the form of headers, also of values with a colon and without spaces.
func TestSendHeaders(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.Inject(nil)
	s.rest("POST", docs, string(order("ada", "1")), of("ada"), "x-one:1", "X-Two:  a: b ")
	header := s.Requests()[0].Header
	if header.Get("X-One") != "1" || header.Get("x-two") != "a: b" || header.Get("X-Ms-Version") == "" {
		t.Errorf("%v", header)
	}
}

func TestSendErrors(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	for _, path := range []string{docs + "/100%", docs + "/%zz"} {
		if response, err := s.Send(t.Context(), "GET", path, ""); err == nil {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	if _, err := s.Send(t.Context(), "NO METHOD", docs, ""); err == nil {
		t.Error("an invalid method was sent")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Send(ended, "GET", docs, "", of("ada")); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was cancelled before: %v", err)
	}
}
