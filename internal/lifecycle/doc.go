// Package lifecycle holds what every long-running command needs: a runner that closes the parts
// of a process in reverse order, and an HTTP server that finishes its requests before it stops.
package lifecycle
