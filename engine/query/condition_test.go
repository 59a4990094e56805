package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/engine/value"
)

// conditionText returns conditions in one line: "a.b >= 1; c in [1 2]".
func conditionText(conditions []Condition) string {
	ops := map[Op]string{Eq: "=", Less: "<", LessEq: "<=", Greater: ">", GreaterEq: ">=", In: "in"}
	parts := make([]string, len(conditions))
	for i, c := range conditions {
		values := fmt.Sprint(c.Values)
		if c.Op != In {
			values = c.Values[0].String()
		}
		parts[i] = strings.Join(c.Path, ".") + " " + ops[c.Op] + " " + values
	}
	return strings.Join(parts, "; ")
}

func TestConditions(t *testing.T) {
	p := Parameters{"@a": value.String("A"), "@n": value.Number(1), "@null": value.Null, "@name": value.String("x y"), "@list": mustJSON(t, "[1]")}
	for _, test := range []struct{ where, want string }{
		{"c.a = 1", "a = 1"},
		{"1 = c.a", "a = 1"},
		{"c.a.b['c d'] < @a", `a.b.c d < "A"`},
		{"c.a > @n AND c.b >= 2 AND c.c <= 3", "a > 1; b >= 2; c <= 3"},
		{"@n > c.a AND 2 >= c.b AND 3 < c.c AND 4 <= c.d", "a < 1; b <= 2; c > 3; d >= 4"},
		{"c.a = 1 AND (c.b = 2 AND (c.c = 3))", "a = 1; b = 2; c = 3"},
		{"c.a BETWEEN @n AND @n + 1", "a >= 1; a <= 2"},
		{"c.a BETWEEN 1 AND c.b", "a >= 1"},
		{"c.a IN (@a, 2, LOWER('B'))", `a in ["A" 2 "b"]`},
		{"c.a IN (1, undefined)", "a in [1]"},
		{"IS_NULL(c.a.b)", "a.b = null"},
		{"c.a = @null", "a = null"},
		{"c[@name] = 1", "x y = 1"},
		{"c.a = @list", "a = [1]"},
		{"c.a = -1 AND c.b = ('x' || 'y')", `a = -1; b = "xy"`},
		{"c.type = 'post' AND c.d <= @a AND (c.d < @a OR c.id < @a)", `type = "post"; d <= "A"`},

		{"c.a != 1", ""},
		{"NOT (c.a = 1)", ""},
		{"c.a NOT IN (1)", ""},
		{"c.a NOT BETWEEN 1 AND 2", ""},
		{"c.a = c.b", ""},
		{"c = 1", ""},
		{"c.a[0] = 1", ""},
		{"c.a + 1 = 2", ""},
		{"c.a = undefined", ""},
		{"c.a < @list", ""},
		{"c.a IN (undefined)", ""},
		{"c.a IN (1, c.b)", ""},
		{"c.a = 1 OR c.b = 2", ""},
		{"true", ""},
	} {
		bound := mustBind(t, "SELECT * FROM c WHERE "+test.where, p)
		if got := conditionText(bound.Conditions()); got != test.want {
			t.Errorf("conditions of %s: %q, want %q", test.where, got, test.want)
		}
	}
	if got := mustBind(t, "SELECT * FROM c", nil).Conditions(); got != nil {
		t.Errorf("conditions without WHERE: %v, want nil", got)
	}
}

func TestDisjuncts(t *testing.T) {
	for _, test := range []struct {
		where string
		want  []string
	}{
		{"c.a = 1", []string{"a = 1"}},
		{"c.a = 1 AND c.b = 2", []string{"a = 1; b = 2"}},
		{"(c.id = 'x' AND c.pk = 'y') OR (c.id = 'z' AND c.pk = 'w')", []string{`id = "x"; pk = "y"`, `id = "z"; pk = "w"`}},
		{"c.a = 1 OR (c.b = 2 OR c.c = 3 AND c.d)", []string{"a = 1", "b = 2", "c = 3"}},
		{"c.a = 1 OR c.b", nil},
		{"c.a = 1 AND (c.b = 2 OR c.c = 3)", []string{"a = 1"}},
		{"c.a", nil},
	} {
		var got []string
		for _, list := range mustBind(t, "SELECT * FROM c WHERE "+test.where, nil).Disjuncts() {
			got = append(got, conditionText(list))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.where, diff)
		}
	}
	if got := mustBind(t, "SELECT * FROM c", nil).Disjuncts(); got != nil {
		t.Errorf("disjuncts without WHERE: %v, want nil", got)
	}
}

// TestReadMany checks the three queries by which azcosmos reads many items, and those for null
// or nested partition keys.
func TestReadMany(t *testing.T) {
	items := []string{`{"id":"1","pk":"a","x":{"y":"a"}}`, `{"id":"2","pk":"a","x":{"y":"b"}}`, `{"id":"1","pk":"b","x":{"y":"b"}}`, `{"id":"3","pk":null}`}
	text := func(s string) value.Value { return value.String(s) }
	for _, test := range []struct {
		text      string
		p         Parameters
		disjuncts []string
		want      []int
	}{
		{"SELECT * FROM c WHERE c.id IN (@param_id0, @param_id1)",
			Parameters{"@param_id0": text("2"), "@param_id1": text("9")},
			[]string{`id in ["2" "9"]`}, []int{1}},
		{"SELECT * FROM c WHERE c.pk = @pk0 AND c.id IN (@param_id0, @param_id1)",
			Parameters{"@pk0": text("a"), "@param_id0": text("1"), "@param_id1": text("2")},
			[]string{`pk = "a"; id in ["1" "2"]`}, []int{0, 1}},
		{"SELECT * FROM c WHERE (c.id = @param_id0 AND c.pk = @param_pk00) OR (c.id = @param_id1 AND c.pk = @param_pk10)",
			Parameters{"@param_id0": text("1"), "@param_pk00": text("b"), "@param_id1": text("2"), "@param_pk10": text("a")},
			[]string{`id = "1"; pk = "b"`, `id = "2"; pk = "a"`}, []int{1, 2}},
		{"SELECT * FROM c WHERE (c.id = @param_id0 AND c.pk = @param_pk00)",
			Parameters{"@param_id0": text("1"), "@param_pk00": text("b")},
			[]string{`id = "1"; pk = "b"`}, []int{2}},
		{"SELECT * FROM c WHERE IS_NULL(c.pk) AND c.id IN (@param_id0)", Parameters{"@param_id0": text("3")},
			[]string{`pk = null; id in ["3"]`}, []int{3}},
		{`SELECT * FROM c WHERE c["x"]["y"] = @pk0 AND c.id IN (@param_id0)`, Parameters{"@pk0": text("b"), "@param_id0": text("1")},
			[]string{`x.y = "b"; id in ["1"]`}, []int{2}},
	} {
		bound := mustBind(t, test.text, test.p)
		var disjuncts, want []string
		for _, list := range bound.Disjuncts() {
			disjuncts = append(disjuncts, conditionText(list))
		}
		if diff := cmp.Diff(test.disjuncts, disjuncts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
		for _, i := range test.want {
			want = append(want, items[i])
		}
		checkRows(t, query(t, test.text, test.p, items...), want...)
	}
}

func TestQueryProperties(t *testing.T) {
	for _, test := range []struct {
		text    string
		clause  string // of RejectedAcrossPartitions
		streams bool
		counts  bool
	}{
		{"SELECT * FROM c WHERE c.a = 1", "", true, false},
		{"SELECT c.a FROM c", "", true, false},
		{"SELECT * FROM c ORDER BY c.a", "ORDER BY", true, false},
		{"SELECT TOP 1 * FROM c", "TOP", true, false},
		{"SELECT * FROM c OFFSET 0 LIMIT 1", "OFFSET LIMIT", true, false},
		{"SELECT DISTINCT c.a FROM c", "DISTINCT", false, false},
		{"SELECT VALUE COUNT(1) FROM c", "an aggregate", false, true},
		{"SELECT COUNT(c.a) AS n FROM c", "an aggregate", false, true},
		{"SELECT VALUE SUM(c.a) FROM c", "an aggregate", false, false},
		{"SELECT COUNT(1), MAX(c.a) FROM c", "an aggregate", false, false},
		{"SELECT VALUE COUNT(1) + 1 FROM c", "an aggregate", false, false},
		{"SELECT VALUE 1", "", false, false},
	} {
		b := mustBind(t, test.text, nil)
		if got := b.RejectedAcrossPartitions(); got != test.clause {
			t.Errorf("%s: rejected across partitions for %q, want %q", test.text, got, test.clause)
		}
		if b.Streams() != test.streams || b.CountsOnly() != test.counts {
			t.Errorf("%s: streams %v, counts %v; want %v, %v", test.text, b.Streams(), b.CountsOnly(), test.streams, test.counts)
		}
	}
	order := mustBind(t, "SELECT * FROM c ORDER BY c.type, c.a['b c'] DESC", nil).Order()
	want := []OrderItem{{Path: []string{"type"}}, {Path: []string{"a", "b c"}, Descending: true}}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
