// Package lifecycle holds what every long-running command needs: a runner that closes the parts
// of a process in reverse order, an HTTP server that finishes its requests before it stops, and
// the settings of the garbage collector.
package lifecycle
