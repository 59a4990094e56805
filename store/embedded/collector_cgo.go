//go:build cgo

package embedded

// collectorPercent is by how much the heap may grow before it is collected. With cgo, Pebble's cache and memtables are not
// in the heap, and what is left there is some 15 MB. A stored procedure leaves a tenth of a megabyte behind, so that with
// Go's own 100 the heap would be collected a hundred times a second, which took a third of the time of a comment.
const collectorPercent = 400
