package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

const guidePath = "docs/azure.md"

// load is what the guide reckons with: how often in a second each field is asked for, by its name in the README's table.
var load = []struct {
	field  string
	second float64
}{
	{"`feed` (Q6)", 20},
	{"`post` (Q2)", 10},
	{"`Post.comments` (Q4)", 40},
	{"`Post.likes` (Q5)", 5},
	{"`Post.viewerHasLiked`", 20},
	{"`User.posts` (Q3)", 10},
	{"`createUser` (C1)", 0.05},
	{"`createPost` (C2)", 0.2},
	{"`updatePost` (C2)", 0.1},
	{"`createComment` (C3)", 1},
	{"`likePost` (C4)", 4},
}

// byContainer is a charge in RU for each container.
type byContainer map[string]float64

func (b byContainer) sum() (all float64) {
	for _, charge := range b {
		all += charge
	}
	return all
}

// TestCostOfALoad holds the guide's figures to the README's table and to what the engine charges a projector.
func TestCostOfALoad(t *testing.T) {
	asked := readCharges(t)
	projected := projectionCharges(t)
	total := byContainer{}
	var table strings.Builder
	table.WriteString("| Field | a second | RU each | of the projector | RU/s |\n|---|---|---|---|---|\n")
	for _, l := range load {
		each, after := asked[l.field], projected[l.field]
		if each == nil {
			t.Fatalf("the README does not tell what %s costs", l.field)
		}
		for _, charges := range []byContainer{each, after} {
			for container, charge := range charges {
				total[container] += charge * l.second
			}
		}
		fmt.Fprintf(&table, "| %s | %g | %.2f | %s | %.1f |\n", l.field, l.second, each.sum(), orDash(after.sum()), (each.sum()+after.sum())*l.second)
	}
	fmt.Fprintf(&table, "| together | | | | %.1f |\n", total.sum())
	table.WriteString("\n| Container | RU/s |\n|---|---|\n")
	for _, container := range []string{"users", "posts", "feed", "usernames"} {
		fmt.Fprintf(&table, "| `%s` | %.1f |\n", container, total[container])
	}
	if got := sectionOf(t, guidePath, "cost", table.String()); got != table.String() {
		t.Errorf("the guide's tables are not what was measured; go test -run %s -update writes them:\n%s", t.Name(), table.String())
	}
}

func orDash(charge float64) string {
	if charge == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", charge)
}

// readCharges reads the README's table: what one request for a field costs in each container.
func readCharges(t *testing.T) map[string]byContainer {
	t.Helper()
	charges := map[string]byContainer{}
	field := ""
	for _, row := range strings.Split(strings.TrimSpace(readSection(t, "access-patterns")), "\n")[2:] {
		cells := strings.Split(row, "|")
		if name := strings.TrimSpace(cells[1]); name != "" {
			field = name
			charges[field] = byContainer{}
		}
		charge, err := strconv.ParseFloat(strings.TrimSpace(cells[6]), 64)
		if err != nil {
			t.Fatal(err)
		}
		charges[field][strings.Trim(cells[2], " `")] += charge
	}
	return charges
}

// projectionCharges asks for each command once and measures what a projector then reads and writes of items, where the
// feed is as full as it gets and has the post in question. Looking at change feeds and leases is left out: that costs the same with many changes.
func projectionCharges(t *testing.T) map[string]byContainer {
	b := newBlog(t)
	for i := range 100 {
		b.postID = b.viewer.createPost(t, fmt.Sprintf("Filling the feed, %03d", i), b.content)
	}
	b.settle()
	charges := map[string]byContainer{}
	for _, p := range b.commandPatterns() {
		p.asker.ask(t, p.document, nil, nil)
		b.counter.take()
		b.settle()
		charges[p.field] = byContainer{}
		for _, r := range b.counter.take() {
			if r.operation == "changeFeed" || r.container == "leases" {
				continue
			}
			charge, err := strconv.ParseFloat(r.charge, 64)
			if err != nil {
				t.Fatal(err)
			}
			charges[p.field][r.container] += charge
		}
	}
	return charges
}
