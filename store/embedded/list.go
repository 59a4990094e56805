package embedded

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"cosmosblog/store/embedded/value"
)

// listResponse writes the answer of a list or a query: {"_rid", name: [rows], "_count"}.
func listResponse(rid, name string, rows [][]byte, charge float64) *response {
	size := 64
	for _, row := range rows {
		size += len(row) + 1
	}
	body := make([]byte, 0, size)
	body = value.AppendString(append(body, `{"_rid":`...), rid)
	body = append(value.AppendString(append(body, ','), name), ":["...)
	for i, row := range rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, row...)
	}
	body = strconv.AppendInt(append(body, `],"_count":`...), int64(len(rows)), 10)
	answer := &response{status: http.StatusOK, body: append(body, '}'), charge: charge}
	return answer.with("X-Ms-Item-Count", strconv.Itoa(len(rows)))
}

// sorted gives the values of a map in the order of their names.
func sorted[V any](m map[string]V) []V {
	values := make([]V, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[name])
	}
	return values
}
