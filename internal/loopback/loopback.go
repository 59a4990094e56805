// Package loopback tells what is this machine alone: where a server of development may listen, and which requests it
// answers.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Is tells whether a host, with or without a port, is loopback: an address of it, or localhost. Other names are not
// looked up: what they stand for may change.
func Is(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && address.IsLoopback()
}
