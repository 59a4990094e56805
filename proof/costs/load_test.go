//go:build ci

package costs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/proof/docsection"
	"cosmosblog/store/views"
)

// load is the example load of docs/azure.md: requests per second of each field, by its name in
// docs/costs.md.
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

// byContainer holds a charge in RU for each container.
type byContainer map[string]float64

func (b byContainer) sum() (sum float64) {
	for _, charge := range b {
		sum += charge
	}
	return sum
}

// TestLoadCosts compares the tables of docs/azure.md with docs/costs.md and the charges of a
// projector.
func TestLoadCosts(t *testing.T) {
	requested := readCharges(t)
	projected := projectionCharges(t)
	total := byContainer{}
	var table strings.Builder
	table.WriteString("| Field | a second | RU each | of the projector | RU/s |\n|---|---|---|---|---|\n")
	for _, l := range load {
		each, after := requested[l.field], projected[l.field]
		if each == nil {
			t.Fatalf("docs/costs.md has no row for %s", l.field)
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
	for _, container := range []string{"users", "posts", "feed", "lists", "usernames"} {
		fmt.Fprintf(&table, "| `%s` | %.1f |\n", container, total[container])
	}
	compareSection(t, azurePath, "cost", table.String())
}

func orDash(charge float64) string {
	if charge == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", charge)
}

// readCharges reads the charge of each field in each container from docs/costs.md.
func readCharges(t *testing.T) map[string]byContainer {
	t.Helper()
	table, err := docsection.Read(costsPath, "access-patterns")
	if err != nil {
		t.Fatal(err)
	}
	charges := map[string]byContainer{}
	field := ""
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.Split(row, "|")
		if name := strings.TrimSpace(cells[1]); name != "" {
			field = name
			charges[field] = byContainer{}
		}
		charge, err := strconv.ParseFloat(strings.TrimSpace(cells[5]), 64)
		if err != nil {
			t.Fatal(err)
		}
		charges[field][strings.Trim(cells[2], " `")] += charge
	}
	return charges
}

// projectionCharges runs each command, and returns the charges of a projector that then reads and
// writes items. As many posts are created as one trim removes, and their charge is the mean.
// The feed is full, and contains the post. The charges of change feeds and leases are not included,
// because they do not depend on the number of changes.
func projectionCharges(t *testing.T) map[string]byContainer {
	b := newBlog(t)
	for i := range 100 {
		b.postID = b.viewer.CreatePost(t, fmt.Sprintf("Filling the feed, %03d", i), b.content)
	}
	b.settle()
	charges := map[string]byContainer{}
	for _, p := range b.commandPatterns() {
		times := 1
		if strings.HasPrefix(p.field, "`createPost`") {
			times = views.FeedSurplus
		}
		charges[p.field] = byContainer{}
		for range times {
			p.client.Ask(t, p.document, nil, nil)
			b.recorder.Take()
			b.settle()
			for container, charge := range takeCharges(t, b) {
				charges[p.field][container] += charge / float64(times)
			}
		}
	}
	return charges
}

// takeCharges returns the charges of the projector's requests since the last call.
func takeCharges(t *testing.T, b *blogUnderTest) byContainer {
	t.Helper()
	charges := byContainer{}
	for _, r := range b.recorder.Take() {
		if r.Operation == "changeFeed" || r.Container == "leases" {
			continue
		}
		charge, err := strconv.ParseFloat(r.Charge, 64)
		if err != nil {
			t.Fatal(err)
		}
		charges[r.Container] += charge
	}
	return charges
}
