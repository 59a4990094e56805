package graphqlws

import "time"

// Limits bound a connection. All must be positive, except where 0 stands for a default.
type Limits struct {
	MessageBytes int           // of a message of the client
	Operations   int           // at once
	InitTime     time.Duration // until connection_init arrives; defaultInitTime if 0
	MessageTime  time.Duration // from the first frame of a message until its end
	CloseTime    time.Duration // for the close frame and the client's answer to it; defaultCloseTime if 0

	// WriteTime bounds the time to send a message; defaultWriteTime if 0. A client that reads more
	// slowly is disconnected. Above 5 s, so is a client that sends a ping frame meanwhile: the library
	// lets the pong wait for 5 s.
	WriteTime time.Duration

	// Ping is the time between ping frames of the server. A client is gone if a pong takes twice as
	// long.
	Ping time.Duration
}

const (
	defaultInitTime  = 3 * time.Second // as the protocol's reference server
	defaultCloseTime = time.Second
	defaultWriteTime = 4 * time.Second
)
