//go:build ci

package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// TestBatches covers batches: several writes to one partition in one transaction.
func TestBatches(t *testing.T) {
	t.Run("committed", testBatchCommitted)
	t.Run("rolled back", testBatchRolledBack)
	t.Run("return minimal", testBatchMinimal)
	t.Run("invalid", testBatchInvalid)
	t.Run("one LSN in the change feed", testBatchNumber)
	t.Run("azcosmos", testBatchByAzcosmos)
	t.Run("bulk", testBulk)
}

func (a *account) batch(pk, operations string, headers ...string) reply {
	a.t.Helper()
	headers = append([]string{"pk", pk, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True", "x-ms-cosmos-batch-ordered", "True"}, headers...)
	return a.send("POST", a.docs(), operations, headers...)
}

// statuses returns the status of each operation.
func (a reply) statuses() string {
	results, _ := a.body.([]any)
	var statuses []string
	for _, result := range results {
		statuses = append(statuses, format(at(result, "statusCode")))
	}
	return strings.Join(statuses, " ")
}

func testBatchCommitted(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"old","pk":"p","n":1}`)
	got := a.must(200, documented, a.batch("p", `[
		{"operationType":"Create","resourceBody":{"id":"one","pk":"p"}},
		{"operationType":"Upsert","resourceBody":{"id":"two","pk":"p"}},
		{"operationType":"Patch","id":"old","resourceBody":{"operations":[{"op":"incr","path":"/n","value":1}]}},
		{"operationType":"Read","id":"old"},
		{"operationType":"Replace","id":"one","resourceBody":{"id":"one","pk":"p","n":5}},
		{"operationType":"Delete","id":"two"}]`))
	a.equal("statuses", got.statuses(), "201 201 200 200 200 204", documented)
	results, _ := got.body.([]any)
	a.equal("read in the batch", at(results[3], "resourceBody", "n"), 2, documented)
	for i, result := range results {
		charge, _ := at(result, "requestCharge").(float64)
		etag, _ := at(result, "eTag").(string)
		if charge <= 0 || i < 5 && etag == "" {
			t.Errorf("operation %d: charge %v, etag %q (%s)", i, charge, etag, fromSDKs)
		}
	}
	if got.header.Get("X-Ms-Session-Token") == "" {
		t.Errorf("no session token (%s)", fromSDKs)
	}
	a.must(404, documented, a.send("GET", a.docs()+"/two", "", "pk", "p"))
}

func testBatchRolledBack(t *testing.T) {
	a := open(t)
	etag := a.create("p", `{"id":"old","pk":"p"}`).etag()
	for second, status := range map[string]string{
		`{"operationType":"Create","resourceBody":{"id":"old","pk":"p"}}`:                                                                            "409",
		`{"operationType":"Delete","id":"none"}`:                                                                                                     "404",
		`{"operationType":"Replace","id":"old","ifMatch":"\"other\"","resourceBody":{"id":"old","pk":"p"}}`:                                          "412",
		`{"operationType":"Create","resourceBody":{"id":"x","pk":"q"}}`:                                                                              "400",
		`{"operationType":"Patch","id":"old","resourceBody":{"condition":"from c where c.n = 1","operations":[{"op":"set","path":"/a","value":1}]}}`: "412",
	} {
		got := a.must(207, documented, a.batch("p", `[{"operationType":"Create","resourceBody":{"id":"one","pk":"p"}},`+second+`,{"operationType":"Delete","id":"old"}]`))
		a.equal(second, got.statuses(), "424 "+status+" 424", documented)
	}
	a.must(404, documented, a.send("GET", a.docs()+"/one", "", "pk", "p"))
	a.equal("etag", a.send("GET", a.docs()+"/old", "", "pk", "p").etag(), etag, documented)
}

func testBatchMinimal(t *testing.T) {
	a := open(t)
	got := a.must(200, fromSDKs, a.batch("p", `[{"operationType":"Create","resourceBody":{"id":"one","pk":"p"}}]`, "Prefer", "return=minimal"))
	results, _ := got.body.([]any)
	if len(results) != 1 || at(results[0], "resourceBody") != nil || at(results[0], "eTag") == nil {
		t.Errorf("minimal: %s (%s)", got.text, fromSDKs)
	}
}

func testBatchInvalid(t *testing.T) {
	a := open(t)
	many := func(n int) string {
		var operations []string
		for i := range n {
			operations = append(operations, fmt.Sprintf(`{"operationType":"Create","resourceBody":{"id":"m%d","pk":"p"}}`, i))
		}
		return "[" + strings.Join(operations, ",") + "]"
	}
	for _, operations := range []string{`{`, `{}`, `[]`, `[{"operationType":"Twist"}]`, many(101)} {
		a.must(400, documented, a.batch("p", operations))
	}
	a.must(200, documented, a.batch("p", many(100)))
	if a.engine != nil {
		a.must(200, documented, a.batch("p", `[{"operationType":"Read","id":"m0","ifNoneMatch":"\"x\""}]`))
		a.must(400, engineOnly, a.batch("p", `[{"operationType":"Delete","id":"m0","ifNoneMatch":"\"x\""}]`))
		a.must(400, engineOnly, a.batch("p", "\x81\x00\x01")) // HybridRow, as .NET sends it
	}
	a.must(400, assumed, a.send("POST", a.docs(), many(1), "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"))
}

func testBatchNumber(t *testing.T) {
	a := open(t)
	a.must(200, documented, a.batch("p", `[{"operationType":"Create","resourceBody":{"id":"one","pk":"p"}},{"operationType":"Create","resourceBody":{"id":"two","pk":"p"}}]`))
	rows := a.must(200, documented, a.changes("", "x-ms-max-item-count", "1")).rows()
	if len(rows) != 2 || at(rows[0], "_lsn") != at(rows[1], "_lsn") {
		t.Errorf("the page has %v (%s)", rows, fromSDKs)
	}
}

func testBatchByAzcosmos(t *testing.T) {
	a := open(t)
	c := a.azcosmos(nil)
	batch := c.NewTransactionalBatch(azcosmos.NewPartitionKeyString("p"))
	batch.CreateItem([]byte(`{"id":"one","pk":"p","n":1}`), nil)
	batch.ReadItem("one", nil)
	done, err := c.ExecuteTransactionalBatch(a.t.Context(), batch, nil)
	if err != nil || !done.Success || len(done.OperationResults) != 2 || len(done.OperationResults[1].ResourceBody) == 0 {
		t.Fatalf("%+v %v", done, err)
	}
	again, err := c.ExecuteTransactionalBatch(a.t.Context(), batch, nil)
	if err != nil || again.Success || again.OperationResults[0].StatusCode != 409 || again.OperationResults[1].StatusCode != 424 {
		t.Errorf("%+v %v", again, err)
	}
}

// testBulk covers bulk requests of SDKs: a batch of independent operations in any partitions of
// one range.
func testBulk(t *testing.T) {
	a := open(t)
	bulk := func(goOn, operations string) reply {
		return a.send("POST", a.docs(), operations, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "False",
			"x-ms-cosmos-batch-continue-on-error", goOn, "x-ms-documentdb-partitionkeyrangeid", "0")
	}
	const first = `{"operationType":"Create","partitionKey":"[\"p\"]","resourceBody":{"id":"one","pk":"p"}}`
	const other = `{"operationType":"Upsert","partitionKey":"[\"q\"]","resourceBody":{"id":"one","pk":"q"}}`
	a.equal("statuses", a.must(200, fromSDKs, bulk("True", "["+first+","+other+"]")).statuses(), "201 201", fromSDKs)
	a.equal("statuses", a.must(207, fromSDKs, bulk("True", "["+first+","+other+"]")).statuses(), "409 200", fromSDKs)
	a.equal("statuses", a.must(207, fromSDKs, bulk("False", "["+first+","+other+"]")).statuses(), "409 424", assumed)
	a.must(410, fromSDKs, a.send("POST", a.docs(), "["+first+"]", "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "False", "x-ms-documentdb-partitionkeyrangeid", "77"))
}
