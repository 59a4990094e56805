// Package httpserver listens and serves: it bounds the connections of all clients and of each
// address, and finishes the requests in flight before it stops.
package httpserver
