package graphqlws

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// closing is why and how the server closes a connection. The client sees the code and the reason,
// so the reason never repeats text of the client.
//
// The client library graphql-ws connects again by itself, except after 4400, 4401, 4406, 4409,
// 4429, 4500, 4004, 4005, and codes from 1002 to 1999 other than 1005, 1006 and 1012 to 1014.
type closing struct {
	code   websocket.StatusCode
	reason string
}

// Error implements error, so that a closing can be the cause of a context's end.
func (c closing) Error() string { return c.reason }

var (
	// errStopping is for a connection whose server stops. The client connects to another server.
	errStopping = closing{websocket.StatusGoingAway, "The server is stopping"}

	// errGone is for a client that does not answer, or does not read. It rarely sees the code.
	errGone = closing{websocket.StatusGoingAway, "The client does not answer"}

	// errBroken is for a connection that failed, or a client that violates the protocol WebSocket.
	// If the connection is closed already, nobody sees the code.
	errBroken = closing{websocket.StatusProtocolError, "Invalid frame"}

	errTooLarge = closing{websocket.StatusMessageTooBig, "The message is too large"}

	// errExpired is for a connection whose time of Init has come. PROTOCOL.md has no code for it.
	// After 4403, graphql-ws connects again, and calls its connectionParams for a new payload.
	// After 4401, which the protocol uses for another fault, it would give up.
	errExpired = closing{4403, "The authorization expired"}

	errUnauthorized = closing{4401, "Unauthorized"} // an operation before connection_ack
	errSubprotocol  = closing{4406, "Subprotocol not acceptable"}
	errInitTimeout  = closing{4408, "Connection initialisation timeout"}
	errSlowMessage  = closing{4408, "The message did not arrive in time"}
	errIDInUse      = closing{4409, "Subscriber already exists"}
	errSecondInit   = closing{4429, "Too many initialisation requests"}
	errInternal     = closing{4500, "Internal server error"}

	errBinary  = closing{4400, "Messages must be text"}
	errJSON    = closing{4400, "The message is not an acceptable JSON object"}
	errType    = closing{4400, "The message has an unknown type"}
	errID      = closing{4400, "The message needs an id of 1 to 128 bytes"}
	errPayload = closing{4400, "The message has an invalid payload"}
)

// maxReason is the maximum number of bytes of a reason: a control frame has 125 (RFC 6455, 5.5),
// and the code takes two.
const maxReason = 123

// TryAgainLater is an error of Init that says nothing about the client: it can connect again.
type TryAgainLater struct{ Reason error }

// Unwrap returns the reason.
func (e TryAgainLater) Unwrap() error { return e.Reason }

// Error returns the text of the reason.
func (e TryAgainLater) Error() string { return e.Reason.Error() }

// refused returns the closing for an error of Init.
func refused(err error) closing {
	reason := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if len(reason) > maxReason {
		end := maxReason
		for !utf8.RuneStart(reason[end]) {
			end--
		}
		reason = reason[:end]
	}
	if _, ok := errors.AsType[TryAgainLater](err); ok {
		return closing{websocket.StatusTryAgainLater, reason}
	}
	return closing{4403, reason}
}
