//go:build ci

package costs

import (
	"fmt"
	"strings"
	"testing"
)

const modelsPath = "../../docs/models.md"

// v3Charge is the charge of an operation in RU on the same data set, before contents were set apart
// and comments embedded, and the greatest ratio that is accepted.
type v3Charge struct{ charge, most float64 }

// v3Charges are the charges of docs/costs.md at commit 684dd9c, by the name of the pattern. The
// last one was for comments(first: 3) of each post. What reads or writes recent comments has a
// bound of its own. All others may cost a tenth more.
var v3Charges = map[string]v3Charge{
	"`createUser` (C1)":              {23.44, 1.1},
	"`updateUser` (C1)":              {29.65, 1.1},
	"`user` (Q1)":                    {1.00, 1.1},
	"`createPost` (C2)":              {12.73, 1.1},
	"`updatePost` (C2)":              {8.78, 1.1},
	"`post` (Q2)":                    {1.07, 1.1},
	"`User.posts` (Q3)":              {7.19, 1.45},
	"`createComment` (C3)":           {17.67, 1.1},
	"`updateComment`":                {9.31, 1.75},
	"`deleteComment`":                {16.00, 1.6},
	"`Post.comments` (Q4)":           {6.41, 1.1},
	"`likePost` (C4)":                {17.20, 1.1},
	"`Post.likes` (Q5)":              {6.15, 1.1},
	"`feed` (Q6)":                    {6.19, 1.6},
	"`feed(first: 100)`":             {20.99, 1.75}, // dates of arrival are two percent
	"`feed(first: 100)`, 3 comments": {372, 0.1},
}

// TestCostsBesideV3 compares the charges of V4 with those of V3, and docs/models.md with the
// ratios.
func TestCostsBesideV3(t *testing.T) {
	b := newBlog(t)
	compared := 0
	var table strings.Builder
	table.WriteString("| Operation | V3, RU | V4, RU | Ratio | Bound |\n|---|---|---|---|---|\n")
	for _, p := range append(b.patterns(), pattern{"`feed(first: 100)`, 3 comments", b.anonymous,
		`{ feed(first: 100) { nodes { title recentComments { excerpt creationDate author { username } } } } }`, nil}) {
		charge := p.client.Ask(t, p.document, nil, nil).Extensions.Cosmos.RequestCharge
		v3, ok := v3Charges[p.field]
		if !ok {
			continue
		}
		compared++
		ratio := charge / v3.charge
		if ratio > v3.most {
			t.Errorf("%s costs %.2f RU, %.2f times as much as in V3", p.field, charge, ratio)
		}
		fmt.Fprintf(&table, "| %s | %.2f | %.2f | %.2f | %.2f |\n", p.field, v3.charge, charge, ratio, v3.most)
	}
	if compared != len(v3Charges) {
		t.Errorf("%d of %d operations were compared", compared, len(v3Charges))
	}
	compareSection(t, modelsPath, "beside-v3", table.String())
}
