package budget

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"
)

const (
	// topPeriod is the time for which spenders are counted. A report has the present period and the
	// one before.
	topPeriod = 5 * time.Minute
	// topSize is the number of entries of each list. An entry takes about 300 bytes.
	topSize = 1000
)

// Top reports who has spent most, in RU.
type Top struct {
	Seconds    float64   `json:"seconds"` // the time that the report covers, at most ten minutes
	Accounts   []Spender `json:"accounts"`
	Addresses  []Spender `json:"addresses"`
	Operations []Spender `json:"operations"`
	Work       []Spender `json:"work"` // background work, by kind
}

// Spender is an account, an address, an operation or a kind of background work, and what it has
// spent, in RU. If there were more than 1000 of them, the sums can be too large by what the
// smallest entry had.
type Spender struct {
	Name     string  `json:"name"` // the id of an account's user, a network, or the name of an operation
	Requests int     `json:"requests"`
	Spent    float64 `json:"spent"`
	Caused   float64 `json:"caused"`            // background work
	Refused  int     `json:"refused,omitempty"` // requests; of accounts and addresses
}

// Top returns the n that spent most of each kind, in descending order.
func (b *Books) Top(n int) Top {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	s := b.spenders
	s.turn(now)
	return Top{
		Seconds:    now.Sub(s.since).Seconds(),
		Accounts:   s.most(n, ofAccounts),
		Addresses:  s.most(n, ofAddresses),
		Operations: s.most(n, ofOperations),
		Work:       s.most(n, ofWork),
	}
}

// The lists of spenders.
const (
	ofAccounts = iota
	ofAddresses
	ofOperations
	ofWork
	spenderLists
)

// spenders are the lists of two periods.
type spenders struct {
	present, former [spenderLists]*topList
	begun           time.Time // of the present period
	since           time.Time // the start of the former one
}

func newSpenders(now time.Time) *spenders {
	return &spenders{present: newTopLists(), former: newTopLists(), begun: now, since: now}
}

func newTopLists() (lists [spenderLists]*topList) {
	for i := range lists {
		lists[i] = &topList{entries: map[string]*entry{}}
	}
	return lists
}

// turn begins a new period if the present one is over.
func (s *spenders) turn(now time.Time) {
	passed := now.Sub(s.begun)
	if passed < topPeriod {
		return
	}
	s.former, s.since, s.begun = s.present, s.begun, now
	if passed >= 2*topPeriod { // nothing was spent lately
		s.former, s.since = newTopLists(), now
	}
	s.present = newTopLists()
}

// add adds what a request has spent.
func (s *spenders) add(p *Payment, operation string, requests int, spent Spending, now time.Time) {
	s.turn(now)
	sums := Spender{Requests: requests, Spent: spent.Spent, Caused: spent.work()}
	if p.account != "" {
		s.present[ofAccounts].add(p.account, sums)
	}
	if p.network.IsValid() {
		s.present[ofAddresses].add(networkName(p), sums)
	}
	if operation == "" {
		operation = "(unnamed)"
	}
	s.present[ofOperations].add(operation, sums)
	for work, price := range spent.Caused {
		s.present[ofWork].add(work, Spender{Requests: 1, Caused: price})
	}
}

// refuse adds a refused request.
func (s *spenders) refuse(p *Payment, now time.Time) {
	s.turn(now)
	if p.account != "" {
		s.present[ofAccounts].add(p.account, Spender{Refused: 1})
	}
	if p.network.IsValid() {
		s.present[ofAddresses].add(networkName(p), Spender{Refused: 1})
	}
}

// networkName returns a network, or the address if it is the only one of its network.
func networkName(p *Payment) string {
	if p.network.IsSingleIP() {
		return p.network.Addr().String()
	}
	return p.network.String()
}

// most returns the n largest entries of a list, of both periods.
func (s *spenders) most(n, list int) []Spender {
	sums := map[string]Spender{}
	for _, lists := range [...]*topList{s.present[list], s.former[list]} {
		for name, e := range lists.entries {
			sum := sums[name]
			sum.Name = name
			sum.plus(e.Spender)
			sums[name] = sum
		}
	}
	all := make([]Spender, 0, len(sums))
	for _, sum := range sums {
		all = append(all, sum)
	}
	slices.SortFunc(all, func(a, b Spender) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(b.Refused, a.Refused), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(n, len(all))]
}

func (s *Spender) plus(t Spender) {
	s.Requests += t.Requests
	s.Spent += t.Spent
	s.Caused += t.Caused
	s.Refused += t.Refused
}

func (s *Spender) total() float64 { return s.Spent + s.Caused }

// topList holds the largest of many sums, by the algorithm Space-Saving: if it is full, a new name
// replaces the smallest entry and keeps its sums. A name whose sum is above the smallest entry is
// therefore always there. Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and
// Top-k Elements in Data Streams", 2005.
type topList struct {
	entries map[string]*entry
	heap    entryHeap // the smallest entry first
}

type entry struct {
	Spender
	at int // in the heap
}

func (l *topList) add(name string, sums Spender) {
	e := l.entries[name]
	switch {
	case e != nil:
	case len(l.heap) < topSize:
		e = &entry{Spender: Spender{Name: strings.Clone(name)}}
		heap.Push(&l.heap, e)
		l.entries[e.Name] = e
	default:
		e = l.heap[0]
		delete(l.entries, e.Name)
		e.Name, e.Requests, e.Refused = strings.Clone(name), 0, 0
		l.entries[e.Name] = e
	}
	e.plus(sums)
	heap.Fix(&l.heap, e.at)
}

// entryHeap implements heap.Interface.
type entryHeap []*entry

func (h entryHeap) Len() int           { return len(h) }
func (h entryHeap) Less(i, j int) bool { return h[i].total() < h[j].total() }
func (h entryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *entryHeap) Push(x any) {
	e := x.(*entry)
	e.at = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface. It is never called.
func (h *entryHeap) Pop() any { panic("budget: an entry is replaced, never removed") }
