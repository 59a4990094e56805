// Package limits holds the limits of a server for its clients.
//
// Package httpserver applies the limits of connections, package api those of requests, documents
// and answers, and package resolvers those of reads. cli/config has settings for the limits that
// depend on the machine, the account and the network: Connections, AddressConnections, InFlight,
// Time, Cost and ClientStreams. The others are constants (Default), and only tests set them. The
// size of a page, 0 to 100, is part of the schema (blog.MaxPageSize).
package limits

import (
	"net/netip"
	"time"

	"cosmosblog/blog"
)

// Limits are the limits of one server. They do not change while the server runs.
type Limits struct {
	// Limits of connections, before any request.

	Connections        int           // open at once; if all are busy, further ones are rejected
	AddressConnections int           // of one address at once; 0 for no limit of its own
	HeaderBytes        int           // size of a request's line and headers
	HeaderTime         time.Duration // to receive the headers
	ReadTime           time.Duration // to receive the whole request
	WriteTime          time.Duration // from the end of the headers to the end of the answer
	IdleTime           time.Duration // between two requests; less if connections run out

	// Limits of requests.

	BodyBytes      int
	AllBodiesBytes int           // sum over the requests that have no answer yet
	InFlight       int           // operations that run at once
	Time           time.Duration // of an operation with its database requests

	// Limits of subscriptions in progress; 0 for no limit.

	StreamsBytes      int // memory that those of all clients keep; sets how many there are
	ClientStreams     int // of one account, and of one address or /64 network
	ConnectionStreams int // of one WebSocket

	// Limits of a document, before it runs.

	QueryBytes  int
	Tokens      int
	Definitions int // operations and fragments
	Fields      int // as written; validation compares each field with all others of its name
	Spread      int // as executed: the fields of a fragment count at each spread
	Depth       int // nested fields; introspection has its own limit
	Aliases     int
	Directives  int
	Cost        int // price in RU, by the prices in the schema; 0 for no limit

	// Limits of the reads of an operation, because a short query can request lists within lists.

	Elements     int // sum of `first` over all lists and of the ids of `nodes`, before the operation runs
	ContentBytes int // of posts and comments

	// Limits of an answer.

	AnswerBytes     int // of its data, at most blog.MaxAnswerBytes
	AllAnswersBytes int // sum over the answers that are being made and written
	Errors          int // at most MostErrors
}

// MostErrors is the upper bound of Errors.
const MostErrors = 10

// Fixed limits, which are the same in tests. The schema's longest name has about 20 letters, its
// inputs have one level, and a page has 100 ids.
const (
	WordBytes    = 200    // of a name or a number in a document
	Lines        = 50_000 // of a document; the parser splits a block string into its lines
	NestedValues = 4      // nested lists and objects in a document
	JSONDepth    = 100    // nested lists and objects in a request
	JSONValues   = 2000   // names and values in a request: 2 bytes to send, up to 100 in memory
)

// Default returns the limits of a server without settings.
func Default() Limits {
	return Limits{
		Connections:        2000,     // an idle connection takes about 30 KiB
		AddressConnections: 100,      // busy ones, because idle ones make room: an office behind one address
		HeaderBytes:        32 << 10, // twice the largest token of package auth
		HeaderTime:         5 * time.Second,
		ReadTime:           15 * time.Second, // 2 MiB at about 1 Mbit/s
		WriteTime:          30 * time.Second, // the longest ReadTime and as much for operation and answer
		IdleTime:           2 * time.Minute,

		BodyBytes:      2 << 20, // a content has up to 256 KiB, and JSON can escape a byte with six
		AllBodiesBytes: 256 << 20,
		InFlight:       256, // several times what two cores can process at once
		Time:           10 * time.Second,

		StreamsBytes:      512 << 20, // one takes about 48 KiB with its connection
		ClientStreams:     100,       // an office behind one address, with several tabs each
		ConnectionStreams: 20,        // a page shows one or two

		// The largest queries of known clients, including introspection, are much smaller.
		QueryBytes:  512 << 10, // two contents of posts
		Tokens:      2000,
		Definitions: 50,
		Fields:      250,
		Spread:      10_000, // nested fragments turn a short query into a million fields
		Depth:       12,
		Aliases:     30,
		Directives:  50,
		Cost:        500, // several times the price of a page of known clients

		Elements:     10_000,   // 100 pages of the largest size
		ContentBytes: 32 << 20, // the 100 longest possible posts, with room for comments

		AnswerBytes:     blog.MaxAnswerBytes,
		AllAnswersBytes: 256 << 20,
		Errors:          MostErrors,
	}
}

// OrDefault returns l, or the default limits if l is zero.
func (l Limits) OrDefault() Limits {
	if l == (Limits{}) {
		return Default()
	}
	return l
}

// leastBudget is room for twice the content that one operation may read. With less, the server
// would reject such an operation even if it did nothing else.
const leastBudget = 64 << 20

// Within returns l for a program that may use some bytes of memory. All bodies, all answers and all
// streams take at most a quarter of it each, or leastBudget if that is more.
func (l Limits) Within(memory int64) Limits {
	most := max(memory/4, leastBudget)
	l.AllBodiesBytes = int(min(int64(l.AllBodiesBytes), max(most, int64(l.BodyBytes)))) // one body always fits
	l.AllAnswersBytes = int(min(int64(l.AllAnswersBytes), most))
	l.StreamsBytes = int(min(int64(l.StreamsBytes), most))
	return l
}

// NetworkOf returns what counts as one client address: an IPv4 address, or the /64 network of an
// IPv6 address, which one host often has to itself.
func NetworkOf(address netip.Addr) netip.Prefix {
	network, _ := address.Prefix(min(address.BitLen(), 64))
	return network
}
