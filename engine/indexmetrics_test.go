package engine

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestIndexMetrics requests index metrics, which name the index that a query used.
func TestIndexMetrics(t *testing.T) {
	a := newBlog(t, Options{})
	for _, c := range []struct{ pk, text, want string }{
		{"p", "SELECT * FROM c", `"UtilizedSingleIndexes":[]}`},
		{"", "SELECT * FROM c", `"UtilizedCompositeIndexes":[],"UtilizedSingleIndexes":[]}`},
		{"", "SELECT * FROM c WHERE c.userId = 'u'", `"IndexSpec":"/userId/?"`},
		{"p", "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.type, c.creationDate DESC, c.id DESC", `"IndexSpecs":["/type ASC","/creationDate DESC","/id DESC"]`},
	} {
		body := `{"query":"` + c.text + `"}`
		got := a.must(200, a.query(c.pk, body, "x-ms-cosmos-populateindexmetrics", "true"))
		text, err := base64.StdEncoding.DecodeString(got.header.Get("X-Ms-Cosmos-Index-Utilization"))
		if err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %s, %v", c.text, text, err)
		}
		if got := a.must(200, a.query(c.pk, body)); got.header.Get("X-Ms-Cosmos-Index-Utilization") != "" {
			t.Error("unrequested index metrics")
		}
	}
}
