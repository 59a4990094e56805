package graphqlws

import (
	"bufio"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// subprotocol is the name of the protocol in the handshake. The protocol graphql-ws is an older one
// with other messages.
const subprotocol = "graphql-transport-ws"

// accept takes over the connection of a request. If that fails, it sends no answer, and returns the
// status for one. The library may have set headers for it.
func accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, net.Conn, int) {
	hijacker := hijackerOf(w)
	if hijacker == nil {
		return nil, nil, http.StatusNotImplemented
	}
	h := &handshake{ResponseWriter: w, hijacker: hijacker}
	socket, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol},
		// The library would accept only its own idea of origins. The caller of the Handler checks them.
		InsecureSkipVerify: true,
	})
	if err != nil {
		if h.status == 0 {
			h.status = http.StatusInternalServerError
		}
		return nil, nil, h.status
	}
	socket.SetReadLimit(-1) // the library's is 32 KiB; connection.receive has Limits.MessageBytes
	return socket, h.network, 0
}

// hijackerOf returns the Hijacker that a writer wraps, or nil.
func hijackerOf(w http.ResponseWriter) http.Hijacker {
	for {
		switch wrapped := w.(type) {
		case http.Hijacker:
			return wrapped
		case interface{ Unwrap() http.ResponseWriter }:
			w = wrapped.Unwrap()
		default:
			return nil
		}
	}
}

// handshake is the ResponseWriter of a handshake. It withholds the library's own answers, which
// repeat headers of the client. It keeps the network connection, which the library hides: only
// deadlines bound the library's wait for the close frame of a client that sends half a message.
type handshake struct {
	http.ResponseWriter
	hijacker http.Hijacker
	network  net.Conn // after Hijack
	status   int      // of the withheld answer, or 0
}

// Hijack implements http.Hijacker.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	network, buffers, err := h.hijacker.Hijack()
	h.network = network
	return network, buffers, err
}

// WriteHeader implements http.ResponseWriter.
func (h *handshake) WriteHeader(status int) {
	if status != http.StatusSwitchingProtocols {
		h.status = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It discards the text.
func (h *handshake) Write(text []byte) (int, error) { return len(text), nil }
