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
	all       held
	networks  map[netip.Prefix]held
	accounts  map[string]held
	documents map[any]int // the subscriptions of each
}

// held is what some subscriptions take.
type held struct{ streams, bytes int }

func (h held) plus(streams, bytes int) held { return held{h.streams + streams, h.bytes + bytes} }

// exceeds reports whether there are more streams, or more bytes, than allowed; 0 for any number.
func (h held) exceeds(streams, bytes int) (tooMany, tooFull bool) {
	return streams > 0 && h.streams > streams, bytes > 0 && h.bytes > bytes
}

func newPlaces(l limits.Limits) *places {
	return &places{limits: l, networks: map[netip.Prefix]held{}, accounts: map[string]held{}, documents: map[any]int{}}
}

// enter counts a subscription of an address, which may be invalid, and an account, which may be
// empty. It returns a function that ends it. A document counts once for the server, and for a
// client as often as its subscriptions have it. Errors: LIMIT_EXCEEDED if there are as many as
// allowed, or those of the client take its part of the memory; OVERLOADED if there is no memory.
func (p *places) enter(address netip.Addr, account string, o *Operation) (leave func(), err error) {
	var network netip.Prefix
	if address.IsValid() {
		network = limits.NetworkOf(address)
	}
	own := streamBytes + o.VariableBytes + o.RequestBytes
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check(network, account, own, o); err != nil {
		return nil, err
	}
	p.add(network, account, 1, own, o)
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(network, account, -1, own, o)
	}), nil
}

// check returns the error of enter.
func (p *places) check(network netip.Prefix, account string, own int, o *Operation) error {
	needed := own
	if p.documents[o.Document] == 0 {
		needed += o.DocumentBytes
	}
	_, noRoom := p.all.plus(1, needed).exceeds(0, p.limits.StreamsBytes)
	var tooMany, tooFull bool
	for _, client := range []struct {
		held
		isKnown bool
	}{
		{p.networks[network], network.IsValid()},
		{p.accounts[account], account != ""},
	} {
		if client.isKnown && p.limits.ClientStreams > 0 {
			many, full := client.plus(1, own+o.DocumentBytes).exceeds(p.limits.ClientStreams, p.limits.StreamsBytes/clientPart)
			tooMany, tooFull = tooMany || many, tooFull || full
		}
	}
	switch {
	case tooMany:
		return errTooMany
	case tooFull:
		return errTooFull
	case noRoom:
		return errNoRoom
	}
	return nil
}

// add adds one subscription, or takes it away: sign is 1 or -1.
func (p *places) add(network netip.Prefix, account string, sign, own int, o *Operation) {
	before := p.documents[o.Document]
	count(p.documents, o.Document, before+sign)
	if before+sign == 0 || before == 0 {
		p.all.bytes += sign * o.DocumentBytes
	}
	p.all = p.all.plus(sign, sign*own)
	count(p.networks, network, p.networks[network].plus(sign, sign*(own+o.DocumentBytes)))
	count(p.accounts, account, p.accounts[account].plus(sign, sign*(own+o.DocumentBytes)))
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
