// Package limits holds, in one place, how much of everything a client may have. The settings of internal/config fill it;
// internal/command holds connections to it, internal/httpapi requests, and resolvers what an operation reads. Pages have
// 1 to 100 elements whatever is set: that is part of the schema (blog.MaxPageSize).
package limits

import "time"

// Limits are what one server grants. They do not change while it runs.
type Limits struct {
	// Of connections, before anybody knows what they bring.

	Connections int           // at once; others wait until one ends
	HeaderBytes int           // of a request's line and headers
	HeaderTime  time.Duration // for them to arrive
	ReadTime    time.Duration // for the whole request to arrive
	WriteTime   time.Duration // for the request, its operation and its answer, once the headers are there
	IdleTime    time.Duration // between two requests

	// Of requests.

	BodyBytes      int
	AllBodiesBytes int           // of the requests that are not yet answered, together
	InFlight       int           // operations that are carried out at once
	Time           time.Duration // of an operation, its requests to the database included

	// Of a document, before it runs.

	QueryBytes  int
	Tokens      int
	Definitions int // operations and fragments
	Fields      int // as they are written; validation compares each with all others of its name
	Spread      int // fields as they are carried out: those of a fragment count wherever it is spread
	Depth       int // fields within fields; introspection has a limit of its own
	Aliases     int
	Directives  int
	Cost        int // RU, by the prices in the schema; 0 for any

	// Of what an operation reads. A query of a few words can ask for lists within lists within lists.

	Elements     int // that it can ask for, counted before it runs: the sum of `first` over all lists, and of the ids of `nodes`
	ContentBytes int // of posts and comments

	// Of an answer.

	AnswerBytes int // of its data; MostAnswerBytes at most
	Errors      int // MostErrors at most
}

// What no setting lifts. The scalars of the schema, which have no settings, stop writing at MostAnswerBytes.
const (
	MostAnswerBytes = 8 << 20
	MostErrors      = 10
)

// What no client needs to have set. The schema's longest name has some 20 letters, its inputs have one level, and a page
// has 100 ids.
const (
	WordBytes    = 200    // of a name or a number in a document
	Lines        = 50_000 // of a document; a block string is taken apart into its lines
	NestedValues = 4      // lists and objects within one another in a document
	JSONDepth    = 100    // lists and objects within one another in a request
	JSONValues   = 2000   // names and values in a request; each takes up to a hundred bytes, and two to send
)

// Default gives the limits where nothing is set.
func Default() Limits {
	return Limits{
		Connections: 2000, // of some 30 KiB each while they are idle
		HeaderBytes: 32 << 10,
		HeaderTime:  5 * time.Second,
		ReadTime:    15 * time.Second,
		WriteTime:   30 * time.Second,
		IdleTime:    2 * time.Minute,

		BodyBytes:      2 << 20, // a post's content has 256 KiB at most, which JSON can write six times as long
		AllBodiesBytes: 256 << 20,
		InFlight:       256, // several times what two cores can do at once
		Time:           10 * time.Second,

		// The largest queries of the clients that we know, introspection's too, stay far below.
		QueryBytes:  512 << 10, // a post's content twice
		Tokens:      2000,
		Definitions: 50,
		Fields:      250,
		Spread:      10_000, // fragments within fragments make a million fields of a short query
		Depth:       12,
		Aliases:     30,
		Directives:  50,
		Cost:        500, // several times what a page of the clients that we know costs

		Elements:     10_000,
		ContentBytes: 32 << 20, // the 100 longest posts, and some

		AnswerBytes: MostAnswerBytes,
		Errors:      MostErrors,
	}
}

// OrDefault gives the limits, and the default ones where none are set at all.
func (l Limits) OrDefault() Limits {
	if l == (Limits{}) {
		return Default()
	}
	return l
}
