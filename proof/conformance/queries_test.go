//go:build ci

package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// TestQueries covers queries as the gateway answers them for clients without query plans.
func TestQueries(t *testing.T) {
	t.Run("in a partition", testQueriesInPartition)
	t.Run("parameters", testParameters)
	t.Run("pages and continuations", testContinuations)
	t.Run("across partitions", testCrossPartition)
	t.Run("range id", testQueryOfRange)
	t.Run("read many", testReadMany)
	t.Run("composite index", testCompositeIndex)
	t.Run("syntax errors", testSyntaxErrors)
	t.Run("metrics", testMetrics)
	t.Run("query plan", testQueryPlan)
	t.Run("azcosmos", testQueriesByAzcosmos)
}

func testQueriesInPartition(t *testing.T) {
	a := open(t)
	a.fill("p", 6)
	a.create("p", `{"id":"x","pk":"p","nothing":null,"list":[1,{"a":2}],"text":"Äpfel"}`)
	a.create("q", `{"id":"y","pk":"q","n":100}`)
	for text, want := range map[string]string{
		`SELECT VALUE c.id FROM c WHERE c.n IN (1, 3, "5")`:                                         `["i01","i03"]`,
		`SELECT VALUE c.id FROM c WHERE c.n BETWEEN 1 AND 2`:                                        `["i01","i02"]`,
		`SELECT VALUE c.id FROM c WHERE c.n < "5" OR c.text > 1 OR c.nothing <= 0`:                  `[]`, // values of different types are not comparable
		`SELECT VALUE c.id FROM c WHERE IS_NULL(c.nothing)`:                                         `["x"]`,
		`SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.n)`:                                        `["x"]`,
		`SELECT VALUE c["id"] FROM c WHERE c["list"][1].a = 2`:                                      `["x"]`,
		`SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2`:                                `[4,3]`,
		`SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n DESC`:                                           `[5,4]`,
		`SELECT VALUE COUNT(1) FROM c`:                                                              `[7]`,
		`SELECT COUNT(c.n) AS n, SUM(c.n) AS s, MIN(c.n) AS a, MAX(c.n) AS z, AVG(c.n) AS m FROM c`: `[{"a":0,"m":2.5,"n":6,"s":15,"z":5}]`,
		`SELECT DISTINCT VALUE c.team FROM c WHERE c.n >= 0 ORDER BY c.team`:                        `[0,1,2]`,
		`SELECT c.n, c.team AS t FROM c WHERE c.id = 'i04'`:                                         `[{"n":4,"t":1}]`,
		`SELECT VALUE {"n": c.n + 1, "l": [c.team]} FROM c WHERE c.id = "i04"`:                      `[{"l":[1],"n":5}]`,
		`SELECT VALUE UPPER(c.text) FROM c WHERE STARTSWITH(c.text, "Äp")`:                          `["ÄPFEL"]`,
		`SELECT VALUE c.none FROM c`:                                                                `[]`,
		`SELECT c.none FROM c WHERE c.id = "x"`:                                                     `[{}]`,
		`SELECT VALUE c.id FROM c WHERE c.n > 3 OR c.text = "Äpfel" ORDER BY c.id`:                  `["i04","i05","x"]`,
		`SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 0 LIMIT 2`:                                    `["x","i00"]`, // a missing property sorts first
	} {
		got := a.must(200, documented, a.query("p", text))
		a.equal(text, got.at("Documents"), want, documented)
	}
}

func testParameters(t *testing.T) {
	a := open(t)
	a.fill("p", 4)
	got := a.must(200, documented, a.queryBody("p", `{"query":"SELECT VALUE c.id FROM c WHERE c.n >= @n AND c.team = @t",
		"parameters":[{"name":"@n","value":1},{"name":"@t","value":0}]}`))
	a.equal("ids", got.at("Documents"), `["i03"]`, documented)
	a.must(400, documented, a.queryBody("p", `{"query":"SELECT * FROM c WHERE c.n = @n"}`))
	a.must(400, documented, a.queryBody("p", `{"parameters":[]}`))
}

func testContinuations(t *testing.T) {
	a := open(t)
	a.fill("p", 12)
	for _, text := range []string{"SELECT * FROM c", "SELECT * FROM c ORDER BY c.n DESC", "SELECT * FROM c WHERE c.team = 1", "SELECT * FROM c ORDER BY c.team, c.n DESC"} {
		want := strings.Fields(a.must(200, documented, a.query("p", text)).ids())
		var seen []string
		for token, pages := "", 0; pages == 0 || token != ""; pages++ {
			page := a.must(200, documented, a.query("p", text, "x-ms-max-item-count", "5", "x-ms-continuation", token))
			if len(page.rows()) > 5 || pages > 10 {
				t.Fatalf("page %d has %d items", pages, len(page.rows()))
			}
			seen = append(seen, strings.Fields(page.ids())...)
			token = page.header.Get("X-Ms-Continuation")
		}
		a.equal(text, seen, want, documented)
	}
	token := a.query("p", "SELECT * FROM c", "x-ms-max-item-count", "5").header.Get("X-Ms-Continuation")
	a.must(400, fromSDKs, a.query("p", "SELECT c.id FROM c", "x-ms-continuation", token))
	a.must(400, fromSDKs, a.query("p", "SELECT * FROM c", "x-ms-continuation", "nonsense"))
	a.must(400, documented, a.query("p", "SELECT * FROM c", "x-ms-max-item-count", "0"))
	a.must(200, documented, a.query("p", "SELECT * FROM c", "x-ms-max-item-count", "-1"))
}

func testCrossPartition(t *testing.T) {
	a := open(t)
	a.fill("p", 3)
	a.fill("q", 3)
	got := a.must(200, documented, a.query("", "SELECT c.id, c.pk FROM c WHERE c.n > 0"))
	a.equal("rows", len(got.rows()), 4, documented)
	for _, text := range []string{
		"SELECT * FROM c ORDER BY c.n", "SELECT TOP 1 * FROM c", "SELECT * FROM c OFFSET 0 LIMIT 1",
		"SELECT DISTINCT VALUE c.n FROM c", "SELECT VALUE COUNT(1) FROM c",
	} {
		a.rejected(400, "1004", fromSDKs, a.query("", text))
	}
	a.must(400, fromSDKs, a.query("", "SELECT * FROM c", "x-ms-documentdb-query-enablecrosspartition", "False"))
	for _, enable := range []string{"True", "False"} { // WHERE limits the query to one partition
		pinned := a.must(200, documented, a.query("", "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'p'", "x-ms-documentdb-query-enablecrosspartition", enable))
		a.equal("count", pinned.at("Documents"), "[3]", documented)
	}
}

func testQueryOfRange(t *testing.T) {
	a := open(t)
	a.fill("p", 2)
	got := a.must(200, fromSDKs, a.query("", "SELECT * FROM c", "x-ms-documentdb-partitionkeyrangeid", "0"))
	a.equal("rows", len(got.rows()), 2, fromSDKs)
	a.must(200, fromSDKs, a.query("", "SELECT * FROM c", "x-ms-documentdb-partitionkeyrangeid", fmt.Sprint(a.send("GET", a.path(), "").at("_rid"), ",0")))
	a.must(410, fromSDKs, a.query("", "SELECT * FROM c", "x-ms-documentdb-partitionkeyrangeid", "77"))
}

// testReadMany covers the three queries that azcosmos's ReadManyItems sends.
func testReadMany(t *testing.T) {
	a := open(t)
	a.fill("p", 4)
	a.fill("q", 2)
	c := a.azcosmos(nil)
	read := func(pairs ...string) string {
		var identities []azcosmos.ItemIdentity
		for i := 0; i < len(pairs); i += 2 {
			identities = append(identities, azcosmos.ItemIdentity{ID: pairs[i+1], PartitionKey: azcosmos.NewPartitionKeyString(pairs[i])})
		}
		got, err := c.ReadManyItems(a.t.Context(), identities, nil)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, item := range got.Items {
			var v struct{ PK, ID string }
			if err := json.Unmarshal(item, &v); err != nil {
				t.Fatal(err)
			}
			found = append(found, v.PK+"/"+v.ID)
		}
		slices.Sort(found)
		return strings.Join(found, " ")
	}
	a.equal("one partition", read("p", "i01", "p", "i03", "p", "none"), "p/i01 p/i03", fromSDKs)
	a.equal("two partitions", read("p", "i01", "q", "i01", "q", "i03"), "p/i01 q/i01", fromSDKs)
	a.equal("one item", read("q", "i00"), "q/i00", fromSDKs)
}

func testCompositeIndex(t *testing.T) {
	a := open(t)
	a.fill("p", 6)
	for text, want := range map[string]string{
		"SELECT VALUE c.id FROM c ORDER BY c.team, c.n DESC": `["i03","i00","i04","i01","i05","i02"]`,
		"SELECT VALUE c.id FROM c ORDER BY c.team DESC, c.n": `["i02","i05","i01","i04","i00","i03"]`,
	} {
		a.equal(text, a.must(200, documented, a.query("p", text)).at("Documents"), want, documented)
	}
	a.must(400, documented, a.query("p", "SELECT * FROM c ORDER BY c.team, c.n"))
	a.must(400, documented, a.query("p", "SELECT * FROM c ORDER BY c.n, c.team"))
}

func testSyntaxErrors(t *testing.T) {
	a := open(t)
	for _, text := range []string{"SELEC * FROM c", "SELECT * FROM c WHERE", "SELECT * FROM c WHERE c.a = 'x", "SELECT d.a FROM c"} {
		got := a.rejected(400, "", documented, a.query("p", text))
		if message, _ := got.at("message").(string); !strings.Contains(message, "rror") {
			t.Errorf("%s: %s", text, message)
		}
	}
	if a.engine != nil { // the engine rejects unsupported clauses and names their position
		for _, text := range []string{"SELECT * FROM c JOIN t IN c.list", "SELECT c.n FROM c GROUP BY c.n", "SELECT * FROM c WHERE c.id LIKE 'a%'", "SELECT VALUE udf.f(c) FROM c"} {
			got := a.rejected(400, "", engineOnly, a.query("p", text))
			if message, _ := got.at("message").(string); !strings.Contains(message, "column") {
				t.Errorf("%s: %s", text, message)
			}
		}
	}
}

func testMetrics(t *testing.T) {
	a := open(t)
	a.fill("p", 5)
	got := a.must(200, documented, a.query("p", "SELECT * FROM c WHERE c.n < 2", "x-ms-documentdb-populatequerymetrics", "True"))
	metrics := got.header.Get("X-Ms-Documentdb-Query-Metrics")
	for _, want := range []string{"retrievedDocumentCount=", "outputDocumentCount=2", "totalExecutionTimeInMs="} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics %q without %q (%s)", metrics, want, documented)
		}
	}
}

// testQueryPlan covers query plans, which .NET, Java and JavaScript request. An account also
// plans queries that this engine rejects.
func testQueryPlan(t *testing.T) {
	a := open(t)
	plan := func(pk, text string) reply {
		return a.query(pk, text, "x-ms-cosmos-is-query-plan-request", "True", "x-ms-cosmos-query-version", "1.4",
			"x-ms-cosmos-supported-query-features", "Aggregate, CompositeAggregate, Distinct, GroupBy, MultipleOrderBy, MultipleAggregates, OffsetAndLimit, OrderBy, Top, NonValueAggregate")
	}
	got := a.must(200, fromSDKs, plan("", "SELECT * FROM c WHERE c.n > 1"))
	a.equal("distinctType", got.at("queryInfo", "distinctType"), "None", fromSDKs)
	a.equal("orderBy", got.at("queryInfo", "orderBy"), "[]", fromSDKs)
	a.equal("ranges", got.at("queryRanges"), `[{"isMaxInclusive":false,"isMinInclusive":true,"max":"FF","min":""}]`, fromSDKs)
	a.equal("hasSelectValue", got.at("queryInfo", "hasSelectValue"), false, fromSDKs)
	a.equal("hasSelectValue", a.must(200, fromSDKs, plan("", "SELECT VALUE c.n FROM c")).at("queryInfo", "hasSelectValue"), true, fromSDKs)
	if a.engine != nil {
		a.rejected(400, "1004", engineOnly, plan("", "SELECT * FROM c ORDER BY c.n"))
		a.must(200, engineOnly, plan("p", "SELECT * FROM c ORDER BY c.n"))
		a.must(400, documented, plan("", "SELEC * FROM c"))
	}
}

func testQueriesByAzcosmos(t *testing.T) {
	a := open(t)
	a.fill("p", 7)
	pager := a.azcosmos(nil).NewQueryItemsPager("SELECT * FROM c WHERE c.n >= @n ORDER BY c.n", azcosmos.NewPartitionKeyString("p"),
		&azcosmos.QueryOptions{PageSizeHint: 2, QueryParameters: []azcosmos.QueryParameter{{Name: "@n", Value: 2}}})
	found := 0
	for pager.More() {
		page, err := pager.NextPage(a.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found += len(page.Items)
	}
	a.equal("items", found, 5, documented)
}
