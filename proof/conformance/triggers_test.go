//go:build ci

package conformance

import (
	"strconv"
	"testing"
)

// TestTriggers covers pre-triggers and post-triggers.
func TestTriggers(t *testing.T) {
	t.Run("pre-trigger", testTriggerBefore)
	t.Run("post-trigger", testTriggerAfter)
	t.Run("only when named", testTriggerUnnamed)
	t.Run("wrong type or operation", testTriggerMismatched)
	t.Run("rolled back", testTriggerRollback)
	t.Run("LSN and charge", testTriggerMerged)
}

const (
	pre  = "x-ms-documentdb-pre-trigger-include"
	post = "x-ms-documentdb-post-trigger-include"

	stamping = `function () { const r = getContext().getRequest(), b = r.getBody(); b.stamped = r.getOperationType(); r.setBody(b); }`
	auditing = `function () {
		const body = getContext().getResponse().getBody();
		if (body && body.reject) throw new Error("rejected by the trigger");
		const id = "audit of " + (body ? body.id : "a deletion");
		if (!__.upsertDocument(__.getSelfLink(), {id: id, pk: "p", etag: body && body._etag})) throw new Error("not accepted");
	}`
)

func testTriggerBefore(t *testing.T) {
	a := open(t)
	a.script("triggers", "stamp", stamping, `,"triggerType":"Pre","triggerOperation":"All"`)
	a.equal("create", a.must(201, documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p", pre, "stamp")).at("stamped"), "Create", fromSDKs)
	a.equal("replace", a.must(200, documented, a.send("PUT", a.docs()+"/one", `{"id":"one","pk":"p"}`, "pk", "p", pre, "stamp")).at("stamped"), "Replace", fromSDKs)
	a.equal("upsert", a.must(200, documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p", pre, "stamp", "x-ms-documentdb-is-upsert", "True")).at("stamped"), "Upsert", fromSDKs)
	minimal := a.must(200, documented, a.send("PUT", a.docs()+"/one", `{"id":"one","pk":"p"}`, "pk", "p", pre, "stamp", "Prefer", "return=minimal"))
	a.equal("minimal", minimal.text, "", documented)
	a.equal("stored", a.send("GET", a.docs()+"/one", "", "pk", "p").at("stamped"), "Replace", documented)
}

func testTriggerAfter(t *testing.T) {
	a := open(t)
	a.script("triggers", "audit", auditing, `,"triggerType":"Post","triggerOperation":"All"`)
	created := a.must(201, documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p", post, "audit"))
	a.equal("etag in the trigger", a.must(200, documented, a.send("GET", a.docs()+"/audit of one", "", "pk", "p")).at("etag"), created.etag(), fromSDKs)
	a.must(204, documented, a.send("DELETE", a.docs()+"/one", "", "pk", "p", post, "audit"))
	a.must(200, assumed, a.send("GET", a.docs()+"/audit of a deletion", "", "pk", "p"))
	a.script("triggers", "respond", `function () { getContext().getResponse().setBody({mine: true}); }`, `,"triggerType":"Post","triggerOperation":"Create"`)
	got := a.must(201, documented, a.send("POST", a.docs(), `{"id":"two","pk":"p"}`, "pk", "p", post, "respond"))
	a.equal("body", got.at("mine"), true, fromSDKs)
	a.equal("stored", a.send("GET", a.docs()+"/two", "", "pk", "p").at("mine"), nil, fromSDKs)
}

func testTriggerUnnamed(t *testing.T) {
	a := open(t)
	a.script("triggers", "stamp", stamping, `,"triggerType":"Pre","triggerOperation":"All"`)
	a.equal("stamped", a.create("p", `{"id":"one","pk":"p"}`).at("stamped"), nil, documented)
}

func testTriggerMismatched(t *testing.T) {
	a := open(t)
	a.script("triggers", "stamp", stamping, `,"triggerType":"Pre","triggerOperation":"Create"`)
	a.script("triggers", "audit", auditing, `,"triggerType":"Post","triggerOperation":"All"`)
	a.script("triggers", "stamp,stamp", stamping, `,"triggerType":"Pre","triggerOperation":"All"`) // this name cannot be used
	for _, c := range []struct {
		header, names, upsert string
		source                basis
	}{
		{post, "stamp", "False", fromSDKs}, {pre, "audit", "False", fromSDKs}, {pre, "stamp", "True", fromSDKs},
		{pre, "stamp,stamp", "False", fromSDKs}, {pre, "none", "False", assumed},
	} {
		a.must(400, c.source, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p", c.header, c.names, "x-ms-documentdb-is-upsert", c.upsert))
	}
	a.must(404, documented, a.send("GET", a.docs()+"/one", "", "pk", "p"))
	if a.engine != nil {
		a.create("p", `{"id":"one","pk":"p"}`)
		a.must(400, engineOnly, a.send("PATCH", a.docs()+"/one", `{"operations":[{"op":"set","path":"/a","value":1}]}`, "pk", "p", post, "audit"))
	}
}

func testTriggerRollback(t *testing.T) {
	a := open(t)
	a.script("triggers", "audit", auditing, `,"triggerType":"Post","triggerOperation":"All"`)
	a.must(400, documented, a.send("POST", a.docs(), `{"id":"one","pk":"p","reject":true}`, "pk", "p", post, "audit"))
	a.must(404, documented, a.send("GET", a.docs()+"/one", "", "pk", "p"))
	a.must(404, documented, a.send("GET", a.docs()+"/audit of one", "", "pk", "p"))
}

func testTriggerMerged(t *testing.T) {
	a := open(t)
	a.script("triggers", "audit", auditing, `,"triggerType":"Post","triggerOperation":"All"`)
	charge := func(got reply) float64 {
		n, err := strconv.ParseFloat(got.header.Get("X-Ms-Request-Charge"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	alone := charge(a.create("p", `{"id":"one","pk":"p"}`))
	feed := a.changes("")
	both := charge(a.must(201, documented, a.send("POST", a.docs(), `{"id":"two","pk":"p"}`, "pk", "p", post, "audit")))
	if both < 1.5*alone {
		t.Errorf("charge with the trigger's write %.2f RU, without %.2f RU (%s)", both, alone, documented)
	}
	rows := a.must(200, documented, a.changes(feed.etag(), "x-ms-max-item-count", "1")).rows()
	if len(rows) != 2 || at(rows[0], "_lsn") != at(rows[1], "_lsn") {
		t.Errorf("the page has %v (%s)", rows, fromSDKs)
	}
}
