//go:build !cgo

package embedded

// collectorPercent is Go's own: without cgo, Pebble's cache and memtables are in the heap.
const collectorPercent = 100
