package engine

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

// TestEffectivePartitionKeys compares the hash with the baseline that the service's SDKs share.
// The effective partition key clears the baseline's two highest bits.
func TestEffectivePartitionKeys(t *testing.T) {
	for _, c := range []struct {
		key      value.Value
		baseline string
	}{
		{value.Undefined, "51622DAA78F835834610ABE56EFF5CB5"},
		{value.Null, "778867E4430E67857ACE5C908374FE16"},
		{value.True, "4E711127C5B5A8E4726AC6DD306A3E59"},
		{value.False, "EFE1BE91E90A3439635E0E9E37361EF2"},
		{value.Number(0), "555B95BEDAC4B1E9EC1CDC9BB0DDDE58"},
		{value.Number(1), "A0CD98B339BA78A5D0CF6953B87070B0"},
		{value.Number(-1), "59938E7A936C1C5B9E3AE842BBC16839"},
		{value.String(""), "B2E9366E637A71B4E710384B2F4970A0"},
		{value.String("asdf"), "608BF1D598F5B63AD5520F04FE58C5E8"},
		{value.String(strings.Repeat("a", 99)), "3C02F609961C32AAC2B912B940D1209A"},
		{value.String(strings.Repeat("a", 100)), "8DBD7D229437BB665DE6417747994D57"},
	} {
		want, err := hex.DecodeString(c.baseline)
		if err != nil {
			t.Fatal(err)
		}
		want[0] &= 0x3F
		if got := effectivePartitionKey(c.key); !slices.Equal(got[:], want) {
			t.Errorf("%v: %x, want %x", c.key, got, want)
		}
	}
}

func TestSeveralRanges(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", blogContainer, "x-ms-offer-throughput", "25000"))
	list, _ := a.must(200, a.send("GET", posts+"/pkranges", "")).body.Get("PartitionKeyRanges").AsArray()
	if len(list) != 3 {
		t.Fatalf("%d ranges for 25,000 RU/s", len(list))
	}
	end := ""
	for _, r := range list {
		if min, _ := r.Get("minInclusive").AsString(); min != end {
			t.Errorf("a range begins at %q, but the previous one ends at %q", min, end)
		}
		end, _ = r.Get("maxExclusive").AsString()
	}
	if end != "FF" {
		t.Errorf("the last range ends at %q", end)
	}
	var want []string
	for i := range 60 {
		pk := fmt.Sprintf("p%02d", i)
		a.create(pk, fmt.Sprintf(`{"id":%q,"postId":%q,"userId":"u%d"}`, pk, pk, i%2))
		want = append(want, pk)
	}
	var fed, queried []string
	for i := range list {
		id := fmt.Sprint(i)
		page := a.must(200, a.send("GET", docs, "", "A-IM", "Incremental feed", "x-ms-documentdb-partitionkeyrangeid", id))
		fed = append(fed, page.ids()...)
		got := a.must(200, a.query("", `{"query":"SELECT * FROM c"}`, "x-ms-documentdb-partitionkeyrangeid", id))
		queried = append(queried, got.ids()...)
		if len(page.items()) < 10 || len(got.items()) != len(page.items()) {
			t.Errorf("range %d lists %d of 60 items, its query returns %d", i, len(page.items()), len(got.items()))
		}
	}
	for what, got := range map[string][]string{"the change feeds": fed, "the queries": queried,
		"a query across":          a.must(200, a.query("", `{"query":"SELECT * FROM c"}`)).ids(),
		"a filter with its index": append(a.must(200, a.query("", `{"query":"SELECT * FROM c WHERE c.userId = 'u0'"}`)).ids(), a.must(200, a.query("", `{"query":"SELECT * FROM c WHERE c.userId = 'u1'"}`)).ids()...),
	} {
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s return %v", what, got)
		}
	}
	a.must(400, a.send("GET", docs, "", "A-IM", "Incremental feed"))
	a.must(410, a.send("GET", docs, "", "A-IM", "Incremental feed", "x-ms-documentdb-partitionkeyrangeid", "7"))
}
