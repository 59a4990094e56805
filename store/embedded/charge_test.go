package embedded

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

func charge(t *testing.T, a answer) float64 {
	t.Helper()
	ru, err := strconv.ParseFloat(a.header.Get("X-Ms-Request-Charge"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return ru
}

// TestPublishedCharges holds the charges to the points that Microsoft publishes (request-units.md): a point read of 1 KB
// is 1 RU and of 100 KB 10 RU; a write of 1 KB without indexes is about 5 RU and of 100 KB 50.
func TestPublishedCharges(t *testing.T) {
	for _, point := range []struct{ got, want float64 }{
		{readCharge(1 << 10), 1}, {readCharge(100 << 10), 10},
		{createCharge(1<<10, 0), 5}, {createCharge(100<<10, 0), 50},
	} {
		if math.Abs(point.got-point.want) > 0.05*point.want {
			t.Errorf("%.2f RU, published are %.2f", point.got, point.want)
		}
	}
}

// TestChargesFollowTheWork doubles one thing after the other that is charged for, and sees it in the answer's charge.
func TestChargesFollowTheWork(t *testing.T) {
	a := newBlog(t, Options{})
	item := func(id string, kilobytes, leaves int) string {
		text := fmt.Sprintf(`{"id":%q,"postId":"p","blob":%q`, id, strings.Repeat("x", kilobytes<<10))
		for i := range leaves {
			text += fmt.Sprintf(`,"n%d":%d`, i, i)
		}
		return text + "}"
	}
	create := func(id string, kilobytes, leaves int) float64 {
		return charge(t, a.create("p", item(id, kilobytes, leaves)))
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.1 {
			t.Errorf("%s: %.2f RU, want %.2f", what, got, want)
		}
	}
	small, large, wide := create("small", 16, 0), create("large", 32, 0), create("wide", 16, 20)
	near("16 KB more", large-small, 16*writePerKB)
	near("20 leaves more", wide-small, 20*writePerLeaf)
	read := func(id string) float64 {
		return charge(t, a.must(200, a.send("GET", docs+"/"+id, "", "pk", "p")))
	}
	near("reading 16 KB more", read("large")-read("small"), 16*readPerKB)
	same := charge(t, a.must(200, a.send("PUT", docs+"/wide", item("wide", 16, 20), "pk", "p")))
	half := charge(t, a.must(200, a.send("PUT", docs+"/wide", item("wide", 16, 10), "pk", "p")))
	near("10 leaves changed", half-same, 10*writePerLeaf)
	query := func(where string) float64 {
		return charge(t, a.must(200, a.query("p", `{"query":"SELECT c.id FROM c WHERE `+where+`"}`)))
	}
	near("one item more", query("c.id IN ('small', 'large')")-query("c.id = 'small'"), queryPerItem+32.25*queryPerKB)
	near("a change feed without changes", charge(t, a.changes("99")), feedLeast)
}

// TestArticleRatios holds the shape of Microsoft's article: what its third model costs for a post's comments, likes, a
// user's posts and the feed, within 15 %.
func TestArticleRatios(t *testing.T) {
	for _, c := range []struct {
		name  string
		items int
		bytes int
		want  float64
	}{
		{"Q3", 28, 500, 6.46}, {"Q4", 20, 1200, 7.72}, {"Q5", 50, 420, 8.92}, {"Q6", 100, 500, 16.97},
	} {
		if got := queryCharge(1, c.items, c.items*c.bytes); math.Abs(got-c.want) > 0.15*c.want {
			t.Errorf("%s: %.2f RU, the article measured %.2f", c.name, got, c.want)
		}
	}
}
