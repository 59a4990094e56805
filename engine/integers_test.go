package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"cosmosblog/engine/value"
)

// integers are neighbors beyond 2^53, in ascending order, most of which have the double of another
// one. That the service keeps and returns their digits, and compares them, is reported by
// Azure/azure-sdk-for-js#13645 (point reads, 2021) and Azure/azure-cosmos-dotnet-v3#4428 (a
// query's result, 2024), and is how Number64.cs of the .NET SDK reads and compares what a query
// returns.
var integers = []string{"-9223372036854775808", "-9223372036854775807", "-9007199254740993", "-9007199254740992", "0", "9007199254740992",
	"9007199254740993", "9007199254740994", "1234567824702058495", "1234567824702058496", "1234567824702058497", "1234567824702058500",
	"9223372036854775806", "9223372036854775807"}

const integersContainer = `{"id":"posts","partitionKey":{"paths":["/postId"],"version":2},"indexingPolicy":{
	"includedPaths":[{"path":"/*"},{"path":"/n/?"}],"compositeIndexes":[[{"path":"/n","order":"descending"},{"path":"/m"}]]}}`

func newIntegers(t *testing.T, options Options) *account {
	a := newAccount(t, options)
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", integersContainer))
	for _, n := range integers {
		a.create("p", `{"id":"`+n+`","postId":"p","n":`+n+`,"m":1,"o":{"list":[`+n+`]}}`)
	}
	return a
}

// digits returns the property n of items, as text.
func digits(items []value.Value) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.Get("n").String()
	}
	return texts
}

// TestIntegersOfItems checks integers in every answer that contains items.
func TestIntegersOfItems(t *testing.T) {
	a := newIntegers(t, Options{})
	for _, n := range integers {
		if got := a.must(200, a.send("GET", docs+"/"+n, "", "pk", "p")); !strings.Contains(got.text, `"n":`+n+`,"m":1,"o":{"list":[`+n+`]}`) {
			t.Errorf("%s is read as %s", n, got.text)
		}
		a.must(200, a.send("PUT", docs+"/"+n, `{"id":"`+n+`","postId":"p","n":`+n+`,"m":2}`, "pk", "p"))
		got := a.must(200, a.send("PATCH", docs+"/"+n, `{"operations":[{"op":"add","path":"/added","value":`+n+`},{"op":"set","path":"/m","value":`+n+`},
			{"op":"move","from":"/added","path":"/moved"},{"op":"incr","path":"/new","value":`+n+`},{"op":"incr","path":"/n","value":0}]}`, "pk", "p"))
		for _, name := range []string{"n", "m", "moved", "new"} {
			if got.body.Get(name).String() != n {
				t.Errorf("%s is %s after the patch with %s", name, got.body.Get(name), n)
			}
		}
	}
	if got := digits(a.changes("").items()); !slices.Equal(got, integers) {
		t.Errorf("the change feed has %v", got)
	}
	got := a.must(200, a.send("POST", docs, `[{"operationType":"Upsert","resourceBody":{"id":"b","postId":"p","n":9007199254740993}},{"operationType":"Read","id":"b"},
		{"operationType":"Patch","id":"b","resourceBody":{"operations":[{"op":"set","path":"/m","value":9007199254740995}]}}]`, "pk", "p", "x-ms-cosmos-is-batch-request", "True"))
	for i := range 3 {
		if body := got.body.At(i).Get("resourceBody"); body.Get("n").String() != "9007199254740993" || i == 2 && body.Get("m").String() != "9007199254740995" {
			t.Errorf("the batch returns %v", body)
		}
	}
}

// TestIntegersAreIncremented checks sums: of integers they are exact, as in the driver of the Rust
// SDK (patch_eval.rs in Azure/azure-sdk-for-rust, which rejects a sum beyond 64 bits).
func TestIntegersAreIncremented(t *testing.T) {
	a := newIntegers(t, Options{})
	for _, c := range []struct{ n, by, want string }{
		{"9007199254740992", "1", "9007199254740993"},
		{"9223372036854775806", "1", "9223372036854775807"},
		{"9223372036854775807", "1", ""},
		{"-9223372036854775807", "-1", "-9223372036854775808"},
		{"-9223372036854775808", "-1", ""},
		{"9223372036854775807", "-9223372036854775808", "-1"},
		{"9007199254740993", "0.5", "9007199254740992"},
		{"0", "1e19", "10000000000000000000"},
		{"0", "2.5", "2.5"},
	} {
		got := a.send("PATCH", docs+"/"+c.n, `{"operations":[{"op":"set","path":"/n","value":`+c.n+`},{"op":"incr","path":"/n","value":`+c.by+`}]}`, "pk", "p")
		if c.want == "" && got.status != 400 || c.want != "" && got.body.Get("n").String() != c.want {
			t.Errorf("%s + %s is %s, want %s", c.n, c.by, got.text, c.want)
		}
	}
}

// TestIntegersInQueries checks filters and orders with each index and without one.
func TestIntegersInQueries(t *testing.T) {
	a := newIntegers(t, Options{})
	query := func(pk, text string, parameters ...string) []value.Value {
		t.Helper()
		return a.must(200, a.query(pk, queryBody(text, parameters...))).items()
	}
	descending := slices.Clone(integers)
	slices.Reverse(descending)
	for text, want := range map[string][]string{"ORDER BY c.n": integers, "ORDER BY c.n DESC": descending, "ORDER BY c.n DESC, c.m": descending,
		"ORDER BY c.n, c.m DESC": integers} {
		for _, selected := range []string{"*", "c.n", "VALUE {n: c.n}"} {
			if got := digits(query("p", "SELECT "+selected+" FROM c "+text)); !slices.Equal(got, want) {
				t.Errorf("%s %s returns %v", selected, text, got)
			}
		}
		for i, n := range integers {
			for operator, kept := range map[string][]string{"=": integers[i : i+1], "<": integers[:i], "<=": integers[:i+1], ">": integers[i+1:], ">=": integers[i:]} {
				for _, where := range []string{"c.n " + operator + " " + n, "c.n " + operator + " @n", "c.o.list[0] " + operator + " " + n} {
					got := digits(query("p", "SELECT c.n FROM c WHERE "+where+" "+text, "@n", n))
					if slices.Sort(got); !slices.Equal(got, ascending(kept)) {
						t.Errorf("%s %s, @n = %s, returns %v", where, text, n, got)
					}
				}
			}
		}
	}
	for i, n := range integers[1:] { // the keys of neighbours may begin alike
		pair := integers[i : i+2]
		got := digits(query("p", "SELECT c.n FROM c WHERE c.n > -1e300 AND c.n IN ("+n+", "+pair[0]+")"))
		if slices.Sort(got); !slices.Equal(got, ascending(pair)) {
			t.Errorf("c.n IN %v returns %v", pair, got)
		}
	}
	for i, n := range integers {
		for operator, kept := range map[string][]string{"=": integers[i : i+1], "<": integers[:i], ">=": integers[i:]} {
			got := digits(query("", "SELECT c.n FROM c WHERE c.n "+operator+" "+n))
			if slices.Sort(got); !slices.Equal(got, ascending(kept)) {
				t.Errorf("c.n %s %s across partitions returns %v", operator, n, got)
			}
		}
	}
	all := "[" + strings.Join(integers, ",") + "]"
	for text, want := range map[string]string{
		"SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n":                                            all,
		"SELECT VALUE MAX(c.n) FROM c":                                                             "[9223372036854775807]",
		"SELECT VALUE MIN(c.n) FROM c":                                                             "[-9223372036854775808]",
		"SELECT VALUE ToString(c.n) FROM c WHERE c.n = 9223372036854775807":                        `["9223372036854775807"]`,
		"SELECT VALUE ToString(c.o) FROM c WHERE c.n = 9007199254740993":                           `["{\"list\":[9007199254740993]}"]`,
		"SELECT VALUE StringToNumber('-9007199254740993')":                                         "[-9007199254740993]",
		"SELECT VALUE StringToArray('[9007199254740993]')":                                         "[[9007199254740993]]",
		"SELECT VALUE c.n FROM c WHERE c.n IN (9007199254740993, 1234567824702058497, 5)":          "[1234567824702058497,9007199254740993]",
		"SELECT VALUE c.n FROM c WHERE c.n BETWEEN 9007199254740993 AND 9007199254740993":          "[9007199254740993]",
		"SELECT VALUE c.n FROM c WHERE ARRAY_CONTAINS([9007199254740993], c.n)":                    "[9007199254740993]",
		"SELECT VALUE [- 9007199254740993, +9007199254740993, -9223372036854775808]":               "[[-9007199254740993,9007199254740993,-9223372036854775808]]",
		"SELECT VALUE [9007199254740993 + 0, 9007199254740993 * 1, ABS(-9007199254740993)]":        "[[9007199254740992,9007199254740992,9007199254740992]]",
		"SELECT VALUE [IS_INTEGER(9223372036854775807), IS_INTEGER(-9223372036854775808)]":         "[[true,true]]",
		"SELECT VALUE [IS_INTEGER(9223372036854775808), IS_INTEGER(-9223372036854777856)]":         "[[false,false]]",
		"SELECT VALUE [9223372036854775808, 18446744073709551615, 1e21, 123456789012345678901234]": "[[9223372036854776000,18446744073709552000,1e+21,1.2345678901234569e+23]]",
	} {
		got := a.must(200, a.query("p", queryBody(text)))
		if rows := got.body.Get("Documents"); rows.String() != want {
			t.Errorf("%s returns %v, want %s", text, rows, want)
		}
	}
}

func ascending(texts []string) []string {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return texts
}

// TestIntegersInBackups checks that a backup has the items, and their indexes, which Check compares
// when it closes.
func TestIntegersInBackups(t *testing.T) {
	fs := vfs.NewMem()
	a := newIntegers(t, Options{Dir: "data", FS: fs})
	if err := a.Backup("copy"); err != nil {
		t.Fatal(err)
	}
	b := newAccount(t, Options{Dir: "copy", FS: fs, Key: a.Key()})
	if got := digits(b.must(200, b.query("p", queryBody("SELECT * FROM c ORDER BY c.n, c.m DESC"))).items()); !slices.Equal(got, integers) {
		t.Errorf("the backup has %v", got)
	}
	for _, n := range integers {
		b.must(204, b.send("DELETE", docs+"/"+n, "", "pk", "p"))
	}
}

// TestIntegersOfScripts checks that a script reads, returns and writes doubles, as every number of
// JavaScript is one (ECMAScript, "The Number Type"; a comment in Azure/azure-cosmos-dotnet-v3#4428
// warns of triggers for that reason). That holds for items that a script passes on untouched, which
// the service's script API hands to the script as objects (our belief: the harsher side).
func TestIntegersOfScripts(t *testing.T) {
	a := newIntegers(t, Options{})
	a.addScript("sprocs", "copy", `function (argument) {
		var c = getContext().getCollection();
		c.readDocument(c.getAltLink() + "/docs/9007199254740993", function (e, item) {
			item.id = "copy";
			c.createDocument(c.getSelfLink(), item, function (e, copy) { __.response.setBody([argument, copy.n, copy]); });
		});
	}`)
	got := a.must(200, a.send("POST", posts+"/sprocs/copy", `[{"n":9007199254740993}]`, "pk", "p"))
	copied := a.must(200, a.send("GET", docs+"/copy", "", "pk", "p")).body
	for _, v := range []value.Value{got.body.At(0).Get("n"), got.body.At(1), got.body.At(2).Get("n"), copied.Get("n"), copied.Path("o", "list").At(0)} {
		if v.String() != "9007199254740992" {
			t.Errorf("the script made %v of 9007199254740993", v)
		}
	}
	a.addTrigger("look", "Pre", "Create", `function () { if (__.request.getBody().n !== 9007199254740992) throw new Error(); }`)
	a.addTrigger("write", "Pre", "Create", `function () { var r = getContext().getRequest(); r.setBody(r.getBody()); }`)
	for trigger, want := range map[string]string{"look": "1234567824702058497", "write": "1234567824702058500"} {
		a.send("DELETE", docs+"/t", "", "pk", "p")
		body := `{"id":"t","postId":"p","n":9007199254740993,"m":1234567824702058497}`
		if got := a.must(201, a.send("POST", docs, body, "pk", "p", preTrigger, trigger)); got.body.Get("m").String() != want {
			t.Errorf("the trigger %s leaves %s", trigger, got.text)
		}
	}
}

// TestIntegersAsPartitionKeys checks that partition keys are doubles: integers with the same double
// have the same partition (PartitionKeyHash.cs of the .NET SDK hashes doubles). The items keep
// their digits.
func TestIntegersAsPartitionKeys(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"posts","partitionKey":{"paths":["/key"],"version":2}}`))
	const header = "x-ms-documentdb-partitionkey"
	a.must(201, a.send("POST", docs, `{"id":"a","key":9007199254740993}`, header, "[9007199254740993]"))
	a.must(409, a.send("POST", docs, `{"id":"a","key":9007199254740992}`, header, "[9007199254740992]"))
	a.must(404, a.send("GET", docs+"/a", "", header, "[9007199254740994]"))
	if got := a.must(200, a.send("GET", docs+"/a", "", header, "[9007199254740992]")); got.body.Get("key").String() != "9007199254740993" {
		t.Errorf("the key is %v", got.body.Get("key"))
	}
	for key, want := range map[string]int{"9007199254740993": 1, "9007199254740992": 0} {
		if got := a.must(200, a.query("", queryBody("SELECT * FROM c WHERE c.key = "+key))); len(got.items()) != want {
			t.Errorf("%d items have the key %s", len(got.items()), key)
		}
	}
}
