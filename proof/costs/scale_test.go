//go:build ci

package costs

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// day is what an active user of docs/azure.md asks on a day, together with the readers who have not
// signed in: requests of each field, by its name in docs/costs.md.
var day = []struct {
	field string
	times float64
}{
	{"`feed` (Q6)", 10},
	{"`post` (Q2)", 12},
	{"`Post.comments` (Q4)", 12},
	{"`Post.likes` (Q5)", 1},
	{"`Post.viewerHasLiked`", 6},
	{"`User.posts` (Q3)", 2},
	{"`Tag.posts`", 2},
	{"`createUser` (C1)", 0.01},
	{"`createPost` (C2)", 0.05},
	{"`updatePost` (C2)", 0.05},
	{"`createComment` (C3)", 0.3},
	{"`likePost` (C4)", 1.5},
}

const (
	activeUsers = 0.1     // of all users, on a day
	peak        = 2 * 0.1 // of a day, in an hour at the rate of the busiest second
	postsEach   = 27.3    // of a user, as `seed --users 10000` writes them
	itemsEach   = 1847    // of a user, with copies and entries
	hours       = 365 * 24 / 12
	manualHour  = 0.008 // US dollars for 100 RU/s
	gigabyte    = 0.25  // US dollars for a month
)

// bytesEach are the bytes of JSON for each post in each container, with its comments and likes, as
// measured in the items of `seed --users 30`.
var bytesEach = map[string]float64{"posts": 25_200, "users": 1660, "lists": 2660, "usernames": 13}

// TestScale compares the tables of docs/azure.md for many users with the charges of one request
// each.
func TestScale(t *testing.T) {
	requested, projected := readCharges(t), projectionCharges(t)
	perUser := byContainer{} // RU/s in the busiest second
	for _, d := range day {
		if requested[d.field] == nil {
			t.Fatalf("docs/costs.md has no row for %s", d.field)
		}
		for _, charges := range []byContainer{requested[d.field], projected[d.field]} {
			for container, charge := range charges {
				perUser[container] += charge * d.times * activeUsers * peak / 3600
			}
		}
	}
	var text strings.Builder
	text.WriteString("| Asked by an active user on a day | |\n|---|---|\n")
	for _, d := range day {
		fmt.Fprintf(&text, "| %s | %g |\n", d.field, d.times)
	}
	for _, users := range []float64{100_000, 10_000_000} {
		text.WriteString("\n" + scaleTable(users, perUser))
	}
	compareSection(t, azurePath, "scale", text.String())
}

// scaleTable returns the table of a number of users.
func scaleTable(users float64, perUser byContainer) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %s users, %s items | GB | RU/s | physical partitions | RU/s of each | dollars a month |\n|---|---|---|---|---|---|\n",
		thousands(users), thousands(users*itemsEach))
	var all struct{ size, charge, partitions, dollars float64 }
	for _, container := range []string{"users", "posts", "feed", "lists", "usernames"} {
		size := users * postsEach * bytesEach[container] / 1e9
		charge := math.Ceil(users*perUser[container]/100) * 100
		// The least throughput of a container: 400 RU/s, and 1 RU/s for each GB.
		given := max(charge, 400, math.Ceil(size/100)*100)
		partitions := max(1, math.Ceil(given/10_000), math.Ceil(size/50))
		dollars := given/100*manualHour*hours + size*gigabyte
		fmt.Fprintf(&text, "| `%s` | %.1f | %s | %.0f | %s | %s |\n",
			container, size, thousands(given), partitions, thousands(given/partitions), thousands(dollars))
		all.size, all.charge, all.partitions, all.dollars = all.size+size, all.charge+given, all.partitions+partitions, all.dollars+dollars
	}
	fmt.Fprintf(&text, "| together | %.1f | %s | %.0f | | %s |\n", all.size, thousands(all.charge), all.partitions, thousands(all.dollars))
	return text.String()
}

// thousands writes a whole number with separators.
func thousands(n float64) string {
	digits := fmt.Sprintf("%.0f", n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
