package subscription

import (
	"net/netip"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

const (
	// streamBytes is the memory that a stream takes with its connection, besides its document, its
	// variables and its request: 10,000 of them took 480 MiB (`go run ./bench subscriptions`).
	streamBytes = 48 << 10
	// clientPart is the part of the memory of all streams that the streams of one account, or of one
	// address, may take: one client cannot keep all others from subscribing.
	clientPart = 8
)

var (
	errTooMany = blog.Errorf(blog.LimitExceeded, "Too many subscriptions are open from your network, or of your account. Close some.")
	errTooFull = blog.Errorf(blog.LimitExceeded, "The subscriptions of your network, or of your account, take too much memory. Close some, or send shorter documents.")
	errNoRoom  = &blog.Error{Code: blog.Overloaded, Message: "The server has no memory for another subscription. Subscribe later.", RetryAfter: time.Minute}
)

// places counts the open subscriptions, and the memory that they keep. It holds no more names than
// there are subscriptions. It may be used concurrently.
type places struct {
	limits limits.Limits

	mu        sync.Mutex
	bytes     int          // of all
	clients   map[any]held // by account, and by netip.Prefix of an address
	documents map[any]int  // the subscriptions of each
}

// held is what the subscriptions of a client take.
type held struct{ streams, bytes int }

func newPlaces(l limits.Limits) *places {
	return &places{limits: l, clients: map[any]held{}, documents: map[any]int{}}
}

// enter counts a subscription of an address, which may be invalid, and an account, which may be
// empty. It returns a function that ends it. A document counts once for the server, and for a
// client as often as its subscriptions have it. Errors: LIMIT_EXCEEDED if there are as many as
// allowed, or those of the client take its part of the memory; OVERLOADED if there is no memory.
func (p *places) enter(address netip.Addr, account string, o *Operation) (leave func(), err error) {
	var clients []any
	if address.IsValid() {
		clients = append(clients, limits.NetworkOf(address))
	}
	if account != "" {
		clients = append(clients, account)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(clients, 1, o)
	if err := p.check(clients); err != nil {
		p.add(clients, -1, o)
		return nil, err
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(clients, -1, o)
	}), nil
}

// check returns the error of enter for clients with their new subscription.
func (p *places) check(clients []any) error {
	var most held
	for _, client := range clients {
		of := p.clients[client]
		most = held{max(most.streams, of.streams), max(most.bytes, of.bytes)}
	}
	l := p.limits
	switch isLimited := l.ClientStreams > 0; {
	case isLimited && most.streams > l.ClientStreams:
		return errTooMany
	case isLimited && l.StreamsBytes > 0 && most.bytes > l.StreamsBytes/clientPart:
		return errTooFull
	case l.StreamsBytes > 0 && p.bytes > l.StreamsBytes:
		return errNoRoom
	}
	return nil
}

// add adds one subscription, or takes it away: sign is 1 or -1.
func (p *places) add(clients []any, sign int, o *Operation) {
	own := streamBytes + o.VariableBytes + o.RequestBytes
	before := p.documents[o.Document]
	count(p.documents, o.Document, before+sign)
	p.bytes += sign * own
	if before+sign == 0 || before == 0 {
		p.bytes += sign * o.DocumentBytes
	}
	for _, client := range clients {
		of := p.clients[client]
		count(p.clients, client, held{of.streams + sign, of.bytes + sign*(own+o.DocumentBytes)})
	}
}

// count sets a count, which is left out if it is zero.
func count[K, V comparable](counts map[K]V, key K, value V) {
	var zero V
	if value == zero {
		delete(counts, key)
	} else {
		counts[key] = value
	}
}
