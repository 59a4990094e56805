package httpserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
)

// Listen listens on a TCP address until r closes. It bounds the connections by the limits; those of
// trusted networks count in total only. Errors are sentences that name the setting of the address,
// a flag.
func Listen(r *lifecycle.Runner, setting, addr string, l limits.Limits, trusted ...netip.Prefix) (net.Listener, error) {
	listener, err := listen(setting, addr, l, trusted)
	if err != nil {
		return nil, err
	}
	r.OnClose(func() error {
		listener.Close() // an error if Server.Serve has closed it
		return nil
	})
	return listener, nil
}

func listen(setting, addr string, l limits.Limits, trusted []netip.Prefix) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("another process listens on %s: stop it, or choose another address with %s", addr, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s: choose a port above 1023 with %s", addr, setting)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return newGate(listener, l, trusted), nil
}
