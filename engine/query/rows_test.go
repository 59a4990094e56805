package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/engine/value"
	"cosmosblog/proof/testseed"
)

var people = []string{
	`{"id":"a", "n":3, "city":"Oslo", "o":{"x":1,"y":2}}`,
	`{"id":"b", "n":1, "city":"Rome", "o":{"y":2,"x":1}}`,
	`{"id":"c", "n":2, "city":"Oslo"}`,
	`{"id":"d", "city":"Rome", "o":{"x":2}}`,
	`{"id":"e", "n":"2", "city":"Bern", "o":null}`,
}

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"SELECT * FROM c WHERE c.id = 'c'", []string{people[2]}},
		{"SELECT VALUE c FROM c WHERE c.id = 'c'", []string{people[2]}},
		{"SELECT c FROM c WHERE c.id = 'c'", []string{`{"c":{"id":"c","n":2,"city":"Oslo"}}`}},
		{"SELECT c.id, c.n FROM c WHERE c.id IN ('a', 'd')", []string{`{"id":"a","n":3}`, `{"id":"d"}`}},
		{"SELECT c.n, c.o.x, c.id FROM c WHERE c.id IN ('c', 'd')", []string{`{"n":2,"id":"c"}`, `{"x":2,"id":"d"}`}},
		{"SELECT c.none FROM c WHERE c.id = 'a'", []string{`{}`}},
		{"SELECT c.n + 1, c['city'] town, c.o.x, 1 FROM c WHERE c.id = 'a'", []string{`{"$1":4,"town":"Oslo","x":1,"$2":1}`}},
		{"SELECT VALUE c.n FROM c", []string{"3", "1", "2", `"2"`}},
		{"SELECT VALUE {id: c.id, n: c.n} FROM c WHERE c.id = 'd'", []string{`{"id":"d"}`}},
		{"SELECT VALUE 1 + 1", []string{"2"}},
		{"SELECT 'x' AS a, undefined AS b", []string{`{"a":"x"}`}},
		{"SELECT VALUE 1 WHERE false", nil},

		{"SELECT TOP 2 VALUE c.id FROM c", []string{`"a"`, `"b"`}},
		{"SELECT TOP 0 VALUE c.id FROM c", nil},
		{"SELECT TOP 3 VALUE c.n FROM c WHERE c.city = 'Rome'", []string{"1"}},
		{"SELECT VALUE c.id FROM c OFFSET 1 LIMIT 2", []string{`"b"`, `"c"`}},
		{"SELECT VALUE c.id FROM c OFFSET 4 LIMIT 2", []string{`"e"`}},
		{"SELECT VALUE c.id FROM c OFFSET 5 LIMIT 2", nil},
		{"SELECT VALUE c.id FROM c OFFSET 1 LIMIT 0", nil},
		{"SELECT TOP 1 VALUE c.id FROM c OFFSET 1 LIMIT 2", []string{`"b"`}},

		{"SELECT VALUE c.id FROM c ORDER BY c.n", []string{`"d"`, `"b"`, `"c"`, `"a"`, `"e"`}},
		{"SELECT VALUE c.id FROM c ORDER BY c.n DESC", []string{`"e"`, `"a"`, `"c"`, `"b"`, `"d"`}},
		{"SELECT VALUE c.id FROM c ORDER BY c.city, c.id DESC", []string{`"e"`, `"c"`, `"a"`, `"d"`, `"b"`}},
		{"SELECT VALUE c.id FROM c ORDER BY c.o.x DESC", []string{`"d"`, `"a"`, `"b"`, `"c"`, `"e"`}},
		{"SELECT TOP 2 c.id FROM c ORDER BY c.n DESC", []string{`{"id":"e"}`, `{"id":"a"}`}},
		{"SELECT c.id FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2", []string{`{"id":"a"}`, `{"id":"c"}`}},

		{"SELECT DISTINCT VALUE c.city FROM c", []string{`"Oslo"`, `"Rome"`, `"Bern"`}},
		{"SELECT DISTINCT c.city FROM c ORDER BY c.city", []string{`{"city":"Bern"}`, `{"city":"Oslo"}`, `{"city":"Rome"}`}},
		{"SELECT DISTINCT VALUE c.o FROM c", []string{`{"x":1,"y":2}`, `{"x":2}`, "null"}},
		{"SELECT DISTINCT TOP 1 VALUE c.city FROM c WHERE c.id > 'a'", []string{`"Rome"`}},
		{"SELECT DISTINCT VALUE c.city FROM c OFFSET 1 LIMIT 5", []string{`"Rome"`, `"Bern"`}},
	} {
		t.Run(test.text, func(t *testing.T) {
			checkRows(t, query(t, test.text, nil, people...), test.want...)
		})
	}
}

func TestOrderOfTypes(t *testing.T) {
	want := []string{`{"id":0}`, `{"x":null}`, `{"x":false}`, `{"x":true}`, `{"x":-1}`, `{"x":1.5}`, `{"x":""}`, `{"x":"a"}`,
		`{"x":"é"}`, `{"x":[0]}`, `{"x":{}}`}
	shuffled := append([]string{}, want...)
	seed := testseed.Of(t)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	checkRows(t, query(t, "SELECT * FROM c ORDER BY c.x", nil, shuffled...), want...)
}

func TestAggregates(t *testing.T) {
	numbers := []string{`{"n":1}`, `{"n":4}`, `{}`, `{"n":-2}`}
	mixed := []string{`{"n":1}`, `{"n":"x"}`, `{"n":null}`, `{"n":true}`}
	nested := []string{`{"n":1}`, `{"n":[1]}`}
	for _, test := range []struct {
		text  string
		items []string
		want  []string
	}{
		{"SELECT VALUE COUNT(1) FROM c", numbers, []string{"4"}},
		{"SELECT VALUE COUNT(c.n) FROM c", numbers, []string{"3"}},
		{"SELECT VALUE COUNT(1) FROM c WHERE c.n > 0", numbers, []string{"2"}},
		{"SELECT COUNT(1) FROM c", numbers, []string{`{"$1":4}`}},
		{"SELECT COUNT(1) AS n, SUM(c.n) AS s, MIN(c.n), MAX(c.n) FROM c", numbers, []string{`{"n":4,"s":3,"$1":-2,"$2":4}`}},
		{"SELECT VALUE AVG(c.n) FROM c", numbers, []string{"1"}},
		{"SELECT VALUE SUM(c.n * 2) FROM c", numbers, []string{"6"}},
		{"SELECT VALUE {n: COUNT(1), twice: COUNT(1) * 2} FROM c", numbers, []string{`{"n":4,"twice":8}`}},
		{"SELECT TOP 1 VALUE COUNT(1) FROM c", numbers, []string{"4"}},
		{"SELECT DISTINCT VALUE COUNT(1) FROM c", numbers, []string{"4"}},
		{"SELECT VALUE COUNT(1) FROM c OFFSET 1 LIMIT 1", numbers, nil},

		{"SELECT VALUE COUNT(1) FROM c", nil, []string{"0"}},
		{"SELECT VALUE SUM(c.n) FROM c", nil, []string{"0"}},
		{"SELECT VALUE AVG(c.n) FROM c", nil, nil},
		{"SELECT VALUE MIN(c.n) FROM c", nil, nil},
		{"SELECT MIN(c.n) AS a, COUNT(1) AS b FROM c", nil, []string{`{"b":0}`}},

		{"SELECT VALUE SUM(c.n) FROM c", mixed, nil},
		{"SELECT VALUE AVG(c.n) FROM c", mixed, nil},
		{"SELECT VALUE MIN(c.n) FROM c", mixed, []string{"null"}},
		{"SELECT VALUE MAX(c.n) FROM c", mixed, []string{`"x"`}},
		{"SELECT VALUE COUNT(c.n) FROM c", mixed, []string{"4"}},
		{"SELECT VALUE MAX(c.n) FROM c", nested, nil},
	} {
		t.Run(test.text, func(t *testing.T) {
			checkRows(t, query(t, test.text, nil, test.items...), test.want...)
		})
	}
}

func TestParameters(t *testing.T) {
	rows := query(t, "SELECT TOP @top VALUE c[@property] FROM c WHERE c.city IN (@city, 'Bern') AND c.n = @n OFFSET @skip LIMIT @take", Parameters{
		"@top": value.Number(5), "@property": value.String("id"), "@city": value.String("Oslo"), "@n": value.Number(2),
		"@skip": value.Number(0), "@take": value.Number(1),
	}, people...)
	checkRows(t, rows, `"c"`)
}

func TestBindRejectsInvalidParameters(t *testing.T) {
	for _, test := range []struct {
		text    string
		p       Parameters
		at      int
		message string
	}{
		{"SELECT * FROM c WHERE c.a = @b", nil, 28, "The parameter @b has no value"},
		{"SELECT * FROM c WHERE c.a = @b", Parameters{"b": value.Null}, 28, "The parameter @b has no value"},
		{"SELECT COUNT(@b) FROM c", nil, 13, "The parameter @b has no value"},
		{"SELECT TOP @b * FROM c", nil, 11, "The parameter @b has no value"},
		{"SELECT TOP @b * FROM c", Parameters{"@b": value.String("1")}, 11, "TOP must be a whole number from 0 to 2147483647"},
		{"SELECT TOP @b * FROM c", Parameters{"@b": value.Number(-1)}, 11, "TOP must be a whole number from 0 to 2147483647"},
		{"SELECT * FROM c OFFSET @b LIMIT 1", Parameters{"@b": value.Number(1.5)}, 23, "OFFSET must be a whole number from 0 to 2147483647"},
		{"SELECT * FROM c OFFSET 1 LIMIT @b", Parameters{"@b": value.Null}, 31, "LIMIT must be a whole number from 0 to 2147483647"},
	} {
		bound, err := mustParse(t, test.text).Bind(test.p)
		if err == nil || bound != nil {
			t.Errorf("Bind accepted %s", test.text)
			continue
		}
		if fault := syntaxErrorOf(t, err); fault.Offset != test.at || fault.Message != test.message {
			t.Errorf("%s: %q at %d; want %q at %d", test.text, fault.Message, fault.Offset, test.message, test.at)
		}
	}
}

// TestSelectStarReturnsTheSourceText checks that SELECT * returns the bytes of the source
// without a copy.
func TestSelectStarReturnsTheSourceText(t *testing.T) {
	doc := Document{Text: []byte(`{"id":  "x"}`)}
	read := false
	rows := mustBind(t, "SELECT * FROM c", nil).Run(func() (Document, bool, error) {
		defer func() { read = true }()
		return doc, !read, nil
	}, false, Progress{})
	row, ok, err := rows.Next()
	if err != nil || !ok || &row[0] != &doc.Text[0] {
		t.Errorf("got %s, %v, %v", row, ok, err)
	}
}

// TestReadingStopsAtTheLimit checks that no more of a source is read than the rows need.
func TestReadingStopsAtTheLimit(t *testing.T) {
	for text, want := range map[string]int{
		"SELECT TOP 2 * FROM c":                          2,
		"SELECT TOP 0 * FROM c":                          0,
		"SELECT * FROM c OFFSET 1 LIMIT 2":               3,
		"SELECT TOP 2 * FROM c ORDER BY c.id":            2,
		"SELECT TOP 1 * FROM c WHERE c.city = 'Rome'":    2,
		"SELECT DISTINCT TOP 2 VALUE c.city FROM c":      2,
		"SELECT TOP 1 VALUE c.n FROM c WHERE c.id > 'c'": 5,
	} {
		read := 0
		source := sourceOf(t, nil, people...)
		all(t, mustBind(t, text, nil).Run(func() (Document, bool, error) {
			read++
			return source()
		}, true, Progress{}))
		if read != want {
			t.Errorf("%s calls the source %d times, want %d", text, read, want)
		}
	}
}

func TestSourceError(t *testing.T) {
	fault := errors.New("disk failure")
	for text, before := range map[string]int{
		"SELECT * FROM c":                       5,
		"SELECT VALUE c.id FROM c":              5,
		"SELECT * FROM c OFFSET 6 LIMIT 1":      0,
		"SELECT * FROM c ORDER BY c.n":          0,
		"SELECT VALUE COUNT(1) FROM c":          0,
		"SELECT DISTINCT VALUE c.city FROM c":   3,
		"SELECT * FROM c WHERE c.city = 'Bern'": 1,
	} {
		rows := mustBind(t, text, nil).Run(sourceOf(t, fault, people...), false, Progress{})
		for range before {
			if _, ok, err := rows.Next(); !ok || err != nil {
				t.Errorf("%s: got %v, %v before the error", text, ok, err)
			}
		}
		for range 2 {
			if _, ok, err := rows.Next(); ok || !errors.Is(err, fault) {
				t.Errorf("%s: got %v, %v, want the error of the source", text, ok, err)
			}
		}
	}
}

// TestProgress reads every query in pages of every size. Each page is a new run, as with a
// continuation.
func TestProgress(t *testing.T) {
	for _, test := range []struct {
		text   string
		sorted bool
	}{
		{"SELECT * FROM c", false},
		{"SELECT VALUE c.n FROM c", false},
		{"SELECT TOP 4 * FROM c", false},
		{"SELECT * FROM c OFFSET 2 LIMIT 2", false},
		{"SELECT * FROM c WHERE c.city = 'Rome' OFFSET 1 LIMIT 2", false},
		{"SELECT TOP 3 * FROM c ORDER BY c.id", true},
		{"SELECT * FROM c ORDER BY c.id OFFSET 3 LIMIT 5", true},
		{"SELECT * FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 3", false},
		{"SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n", false},
		{"SELECT DISTINCT VALUE c.city FROM c", false},
		{"SELECT DISTINCT VALUE c.city FROM c OFFSET 1 LIMIT 2", false},
		{"SELECT VALUE COUNT(1) FROM c", false},
		{"SELECT VALUE 1", false},
	} {
		bound := mustBind(t, test.text, nil)
		want := all(t, bound.Run(sourceOf(t, nil, people...), test.sorted, Progress{}))
		resumes := bound.Streams() && (test.sorted || len(bound.Order()) == 0)
		for size := 1; size <= len(people); size++ {
			checkRows(t, pages(t, bound, test.sorted, resumes, size), want...)
		}
	}
}

// pages reads a query in pages. If resumes is true, the source resumes where it stopped;
// otherwise it restarts for each page.
func pages(t *testing.T, bound *Bound, sorted, resumes bool, size int) []string {
	t.Helper()
	source, progress, results := sourceOf(t, nil, people...), Progress{}, []string{}
	for {
		rows := bound.Run(source, sorted, progress)
		for range size {
			row, ok, err := rows.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return results
			}
			results = append(results, string(row))
		}
		progress = throughJSON(t, rows.Progress())
		if !resumes {
			source = sourceOf(t, nil, people...)
		}
	}
}

func throughJSON(t *testing.T, p Progress) (copied Progress) {
	t.Helper()
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &copied)
	}
	if err != nil || !reflect.DeepEqual(copied, p) {
		t.Fatalf("%v is encoded as %s and decoded as %v, %v", p, text, copied, err)
	}
	return copied
}

// TestSortDiscardsSurplus compares the sort that discards surplus documents with a sort of all
// documents. Many of them are equal.
func TestSortDiscardsSurplus(t *testing.T) {
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	items := make([]string, 3000)
	for i := range items {
		items[i] = fmt.Sprintf(`{"i":%d,"n":%d}`, i, random.IntN(100))
	}
	want := query(t, "SELECT c.i, c.n FROM c ORDER BY c.n DESC", nil, items...)
	for _, take := range []int{0, 1, 10, 300, 2999, 5000} {
		got := query(t, fmt.Sprintf("SELECT TOP %d c.i, c.n FROM c ORDER BY c.n DESC", take), nil, items...)
		if diff := cmp.Diff(want[:min(take, len(want))], got); diff != "" {
			t.Errorf("TOP %d (-want +got):\n%s", take, diff)
		}
	}
	got := query(t, "SELECT c.i, c.n FROM c ORDER BY c.n DESC OFFSET 700 LIMIT 50", nil, items...)
	checkRows(t, got, want[700:750]...)
}

// TestAtMost checks that no more documents are kept than the caller reads, and that More reports
// further rows.
func TestAtMost(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT VALUE c FROM c ORDER BY c.city DESC":             {"2:more", "2:more", "1"},
		"SELECT c.id FROM c ORDER BY c.city":                     {"2:more", "2:more", "1"},
		"SELECT TOP 3 c.id FROM c ORDER BY c.n":                  {"2:more", "1"},
		"SELECT TOP 4 c.id FROM c ORDER BY c.n":                  {"2:more", "2"},
		"SELECT c.id FROM c ORDER BY c.n OFFSET 2 LIMIT 9":       {"2:more", "1"},
		"SELECT c.id FROM c WHERE c.city = 'Oslo' ORDER BY c.n":  {"2"},
		"SELECT VALUE c.n FROM c WHERE c.n != '2' ORDER BY c.id": {"2", "1"}, // every document is kept, so More is false
	} {
		bound, progress := mustBind(t, text, nil), Progress{}
		var got []string
		for range want {
			rows := bound.Run(sourceOf(t, nil, people...), false, progress)
			rows.AtMost(2)
			n := 0
			for n < 2 {
				if _, ok, err := rows.Next(); err != nil {
					t.Fatal(err)
				} else if !ok {
					break
				}
				n++
			}
			progress = throughJSON(t, rows.Progress())
			page := strconv.Itoa(n)
			if rows.More() {
				page += ":more"
			}
			got = append(got, page)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestResumeWithChangedOrder checks that a run can resume another if only one of their sources
// was sorted.
func TestResumeWithChangedOrder(t *testing.T) {
	bound := mustBind(t, "SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 1 LIMIT 3", nil)
	for _, sorted := range []bool{true, false} {
		rows := bound.Run(sourceOf(t, nil, people...), sorted, Progress{})
		first, _, err := rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		rest := all(t, bound.Run(sourceOf(t, nil, people...), !sorted, throughJSON(t, rows.Progress())))
		checkRows(t, append([]string{string(first)}, rest...), `"b"`, `"c"`, `"d"`)
	}
}

// TestLongSortKeys checks that a query sorted by long strings resumes from a short Progress.
func TestLongSortKeys(t *testing.T) {
	var items []string
	for i := range 5 {
		items = append(items, fmt.Sprintf(`{"id":"%d","s":"%s%d"}`, i, strings.Repeat("a", 100_000), 9-i))
	}
	bound, progress := mustBind(t, "SELECT VALUE c FROM c ORDER BY c.s", nil), Progress{}
	for i := range 5 {
		rows := bound.Run(sourceOf(t, nil, items...), false, progress)
		rows.AtMost(1)
		row, ok, err := rows.Next()
		if want := mustJSON(t, items[4-i]).String(); !ok || err != nil || string(row) != want {
			t.Fatalf("row %d is %.20s…, %v, %v", i, row, ok, err)
		}
		progress = throughJSON(t, rows.Progress())
		if len(progress.After) > maxAfter || rows.More() != (i < 4) {
			t.Errorf("after row %d: %d bytes, more: %v", i, len(progress.After), rows.More())
		}
	}
}

// TestConcurrentRuns runs one Bound and binds one Query from several goroutines. The race
// detector reports data races.
func TestConcurrentRuns(t *testing.T) {
	q := mustParse(t, "SELECT TOP 2 c.id, c.n + @n AS m FROM c WHERE c.city IN ('Oslo', @city) ORDER BY c.n DESC")
	p := Parameters{"@n": value.Number(1), "@city": value.String("Rome")}
	shared, err := q.Bind(p)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		own := []Source{sourceOf(t, nil, people...), sourceOf(t, nil, people...)}
		all.Go(func() {
			bound, err := q.Bind(p)
			if err != nil {
				t.Error(err)
				return
			}
			for i, b := range []*Bound{bound, shared} {
				row, ok, err := b.Run(own[i], false, Progress{}).Next()
				if string(row) != `{"id":"a","m":4}` || !ok || err != nil {
					t.Errorf("got %s, %v, %v", row, ok, err)
				}
			}
		})
	}
	all.Wait()
}

// TestNumbersThatAreNotJSON checks that a row with NaN or an infinity ends the query, wherever the
// number comes from.
func TestNumbersThatAreNotJSON(t *testing.T) {
	for _, selected := range []string{"VALUE c.n / 0", "VALUE 1 / 0", "VALUE NaN", "[NaN]", "VALUE {a: [-Infinity]}", "SQRT(-c.n)", "c.n, [c.n, c.n % 0]",
		"VALUE c.none ?? 1 / 0", "VALUE POWER(0, -1)", "VALUE SUM(1e308)", "VALUE [MAX(c.n / 0)]", "DISTINCT VALUE NaN", "VALUE c.n > 0 ? NaN : 1"} {
		rows := mustBind(t, "SELECT "+selected+" FROM c WHERE IS_NUMBER(c.n)", nil).Run(sourceOf(t, nil, people...), false, Progress{})
		if row, ok, err := rows.Next(); ok || !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s returns %s, %v, %v", selected, row, ok, err)
		}
	}
	for _, selected := range []string{"VALUE IS_NUMBER(NaN)", "VALUE c.n > 0 ? 1 : NaN", "[1 / 0][1], c.n", "VALUE {a: 1, b: NaN}.a", "COUNT(1 / 0)"} {
		rows := mustBind(t, "SELECT "+selected+" FROM c WHERE IS_NUMBER(c.n)", nil).Run(sourceOf(t, nil, people...), false, Progress{})
		if _, ok, err := rows.Next(); !ok || err != nil {
			t.Errorf("%s returns %v, %v", selected, ok, err)
		}
	}
}

// TestNumbersThatAreNotJSONAreSoughtInShortRows checks that no row is searched whose text would be
// larger than a page: it may have the same part many times.
func TestNumbersThatAreNotJSONAreSoughtInShortRows(t *testing.T) {
	long := Parameters{"@p": value.Array(slices.Repeat([]value.Value{value.Number(1)}, 1<<20))}
	text := "SELECT VALUE [" + strings.Repeat("[@p, @p], ", 5000) + "NaN] FROM c"
	rows := mustBind(t, text, long).Run(sourceOf(t, nil, people...), false, Progress{})
	if _, ok, err := rows.Next(); ok || !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v, %v", ok, err)
	}
}
