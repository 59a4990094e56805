// Package budget limits what each client spends over time, in request units (RU) of Cosmos DB. An
// account and the network of an address each have a budget, and a request pays from both: accounts
// can be had for nothing, and the people of an office share an address.
//
// A budget is a token bucket. It fills with a rate in RU/s, up to the amount of Burst. A request is
// admitted if something is left, whatever its price, so every operation can be afforded. Its price
// is deducted at once, so that a hundred connections cannot spend what one may. What it spends
// beyond its price is deducted while it runs (Check), and what it did not spend is returned at its
// end. A budget can therefore be overdrawn, and the client waits until it is filled again.
//
// The price of the background work that a request causes is a debt, which half of the rate repays.
// A rename can cause the work of minutes, and its user should be able to go on reading and writing.
// So a debt refuses nothing until it is as large as a minute's rate. Then mutations wait.
//
// A Processor divides the processor time of subscriptions in the same way.
//
// Each server has its own Books, in memory. A restart fills all budgets, which costs at most one
// Burst of each client.
package budget

import (
	"maps"
	"math"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

const (
	// Burst is the time whose rate a full budget holds.
	Burst = 10 * time.Second

	// maxDebt is the time whose rate a client may owe for background work before mutations wait.
	maxDebt = time.Minute

	// greatestDebt is the time whose rate a client can owe at most. More would keep the author of a
	// hundred thousand comments from writing for hours, after a rename.
	greatestDebt = 10 * time.Minute

	// repayment is the part of the rate that repays a debt.
	repayment = 0.5

	// maxClients is the number of budgets of each kind that are held. One takes about 300 bytes. If
	// there are more, those that were not used for longest begin again, full and without a debt.
	maxClients = 100_000
)

// Options configure Books. The zero value limits nothing.
type Options struct {
	Account float64          // rate in RU/s; 0 for no budget
	Address float64          // of a network: limits.NetworkOf
	Now     func() time.Time // time.Now if nil
}

// Books hold the budgets of a server's clients. It may be used concurrently.
type Books struct {
	now func() time.Time

	mu        sync.Mutex
	accounts  *purses[string]
	addresses *purses[netip.Prefix]
	spenders  *spenders
	totals    Totals
}

// Totals are sums since the start, in RU.
type Totals struct {
	Spent   float64            // of operations: charges of their requests, and what kept results cost once
	Caused  map[string]float64 // prices of background work, by the kind of work
	Refused [2]int             // requests, by Kind of the budget that was used up
}

// Kind is a kind of client.
type Kind int

// The kinds of clients.
const (
	Account Kind = iota
	Address
)

// String returns "account" or "address".
func (k Kind) String() string { return [...]string{"account", "address"}[k] }

// New returns Books in which all budgets are full.
func New(o Options) *Books {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Books{
		now:       o.Now,
		accounts:  newPurses[string](o.Account, Burst),
		addresses: newPurses[netip.Prefix](o.Address, Burst),
		spenders:  newSpenders(o.Now()),
		totals:    Totals{Caused: map[string]float64{}},
	}
}

// Limit reports whether any client has a budget.
func (b *Books) Limit() bool { return b.accounts.rate > 0 || b.addresses.rate > 0 }

// Totals returns the sums since the start.
func (b *Books) Totals() Totals {
	b.mu.Lock()
	defer b.mu.Unlock()
	totals := b.totals
	totals.Caused = maps.Clone(totals.Caused)
	return totals
}

// Begin admits a request, whose price in RU is deducted from its budgets until it ends. account is
// the id of the account's user, or "" for an anonymous request; Begin keeps no memory of it.
// writes tells whether the request is a mutation. An address that is not valid, as of a Unix
// socket, has no budget. Error: BUDGET_EXCEEDED, with the time after which the request can be
// admitted; the payment then only has the states of the budgets.
func (b *Books) Begin(account string, address netip.Addr, writes bool, price float64) (*Payment, error) {
	p := &Payment{books: b, account: account, writes: writes, price: price}
	if address.IsValid() {
		p.network = limits.NetworkOf(address)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if account != "" {
		p.purses[Account] = b.accounts.of(strings.Clone, account, now)
	}
	if address.IsValid() {
		p.purses[Address] = b.addresses.of(nil, p.network, now)
	}
	if used, wait := p.used(); wait > 0 {
		b.totals.Refused[used]++
		b.spenders.refuse(p, now)
		p.ended = true
		return p, p.exceeded(used, wait)
	}
	p.pay(price)
	p.paid = price
	return p, nil
}

// Payment is what a request pays. It may be used concurrently.
type Payment struct {
	books   *Books
	account string
	writes  bool
	network netip.Prefix
	purses  [2]*purse // by Kind; nil without a budget
	price   float64

	// The books' mutex guards the following.
	paid  float64            // deducted so far
	owed  map[string]float64 // added to the debts so far, by the kind of work
	ended bool
}

// Spending is what an operation has spent so far, in RU.
type Spending struct {
	Spent   float64            // charges of its requests, and what kept results that it used cost once
	Caused  map[string]float64 // the prices of the background work that it caused, by the kind of work
	Unknown bool               // a request was not answered, so that its charge is unknown
}

// work returns the price of all background work.
func (s Spending) work() (sum float64) {
	for _, price := range s.Caused {
		sum += price
	}
	return sum
}

// Price returns the price that was deducted at first, or 0 for a nil Payment.
func (p *Payment) Price() float64 {
	if p == nil {
		return 0
	}
	return p.price
}

// Check deducts what an operation has spent so far, and returns an error if it may execute nothing
// more: it has spent more than its price, and nothing is left, or it is a mutation, and the debt is
// too large. Error: BUDGET_EXCEEDED. Check of a nil Payment returns nil.
func (p *Payment) Check(s Spending) error {
	if p == nil {
		return nil
	}
	b := p.books
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.ended {
		return nil
	}
	p.update(s, b.now())
	if s.Spent <= p.price && !p.writes {
		return nil
	}
	used, wait := p.used()
	if wait == 0 || s.Spent <= p.price && !p.isIndebted() {
		return nil
	}
	return p.exceeded(used, wait)
}

// update deducts what the operation has spent beyond what it has paid, and adds the work that it
// has caused since to the debts.
func (p *Payment) update(s Spending, now time.Time) {
	p.refill(now)
	if s.Spent > p.paid {
		p.pay(s.Spent - p.paid)
		p.paid = s.Spent
	}
	for work, price := range s.Caused {
		p.owe(price - p.owed[work])
		p.books.totals.Caused[work] += price - p.owed[work]
	}
	p.owed = s.Caused
}

// Add pays for something besides the operation, by its name, for Top. Add of a nil Payment does
// nothing.
func (p *Payment) Add(name string, spent float64) {
	if p == nil || spent == 0 {
		return
	}
	b := p.books
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	p.refill(now)
	p.pay(spent)
	b.totals.Spent += spent
	b.spenders.add(p, name, 0, Spending{Spent: spent}, now)
}

// End ends the request. operation names what it has executed, for Top; End keeps no memory of it.
// If a charge is unknown, because the database did not answer, the request pays its price, if that
// is more. Only the first call has an effect. End of a nil Payment does nothing.
func (p *Payment) End(operation string, s Spending) {
	if p == nil {
		return
	}
	b := p.books
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if s.Unknown {
		s.Spent = max(s.Spent, p.price)
	}
	now := b.now()
	p.update(s, now)
	p.pay(s.Spent - p.paid) // returns what was not spent
	b.totals.Spent += s.Spent
	b.spenders.add(p, operation, 1, s, now)
}

// pay deducts an amount from the budgets.
func (p *Payment) pay(amount float64) {
	for _, purse := range p.purses {
		if purse != nil {
			purse.left -= amount
		}
	}
}

// owe adds the price of background work to the debts, up to their greatest. An account's work adds
// no more to the debt of its address than to that of the account: others there share it.
func (p *Payment) owe(price float64) {
	if account := p.purses[Account]; account != nil {
		price = account.owe(price)
	}
	if address := p.purses[Address]; address != nil {
		address.owe(price)
	}
}

// isIndebted reports whether a debt is so large that mutations wait.
func (p *Payment) isIndebted() bool {
	for _, purse := range p.purses {
		if purse != nil && purse.debt >= purse.mostDebt() {
			return true
		}
	}
	return false
}

func (p *Payment) refill(now time.Time) {
	for _, purse := range p.purses {
		if purse != nil {
			purse.refill(now)
		}
	}
}

// used returns the budget for which the request must wait, and the time. If there are several, it
// is the one that takes longest; if there is none, the time is 0.
func (p *Payment) used() (used Kind, wait time.Duration) {
	for kind, purse := range p.purses {
		if purse == nil {
			continue
		}
		if w := purse.wait(p.writes); w > wait {
			used, wait = Kind(kind), w
		}
	}
	return used, wait
}

// exceeded returns the error of a request whose budget is used up.
func (p *Payment) exceeded(used Kind, wait time.Duration) error {
	sentence := [...]string{
		"This account has used up its budget. Retry in %v.",
		"This address has used up its budget, which all its users share. Retry in %v.",
	}[used]
	if p.purses[used].left > 0 {
		sentence = "The work that recent mutations left is not paid yet. Queries are answered. Retry the mutation in %v."
	}
	err := blog.Errorf(blog.BudgetExceeded, sentence, wait.Round(time.Second/10))
	err.RetryAfter = wait
	return err
}

// State is the state of one budget, in RU.
type State struct {
	Kind Kind
	Rate float64       // RU/s
	Size float64       // of the full budget
	Left float64       // negative if it is overdrawn
	Debt float64       // for background work
	Full time.Duration // until it is full, if nothing is spent
}

// States returns the states of the request's budgets.
func (p *Payment) States() (states []State) {
	p.books.mu.Lock()
	defer p.books.mu.Unlock()
	p.refill(p.books.now())
	for kind, purse := range p.purses {
		if purse != nil {
			full := purse.until(purse.size() - purse.left)
			states = append(states, State{Kind(kind), purse.rate, purse.size(), purse.left, purse.debt, full})
		}
	}
	return states
}

// purses are the budgets of all clients of a kind.
type purses[K comparable] struct {
	rate  float64 // RU/s; 0 for none
	burst time.Duration
	lru   *simplelru.LRU[K, *purse]
}

// purse is one budget.
type purse struct {
	rate  float64       // RU/s, above 0
	burst time.Duration // whose rate it holds if it is full
	left  float64       // RU; negative if it is overdrawn
	debt  float64       // RU of background work that are not repaid
	at    time.Time

	recent float64 // paid for processor time; half of it is forgotten each second
}

// newPurse returns a full budget.
func newPurse(rate float64, burst time.Duration, now time.Time) *purse {
	p := &purse{rate: rate, burst: burst, at: now}
	p.left = p.size()
	return p
}

func newPurses[K comparable](rate float64, burst time.Duration) *purses[K] {
	lru, err := simplelru.NewLRU[K, *purse](maxClients, nil)
	if err != nil {
		panic("budget: " + err.Error()) // only for a size below 1
	}
	return &purses[K]{rate, burst, lru}
}

// of returns the budget of a client, filled up to now, or nil if there are no budgets. If copied is
// not nil, it returns a copy of the client that may be kept.
func (all *purses[K]) of(copied func(K) K, client K, now time.Time) *purse {
	if all.rate == 0 {
		return nil
	}
	known, ok := all.lru.Get(client)
	if !ok {
		if copied != nil {
			client = copied(client)
		}
		known = newPurse(all.rate, all.burst, now)
		all.lru.Add(client, known)
	}
	known.refill(now)
	return known
}

func (p *purse) size() float64 { return p.rate * p.burst.Seconds() }

// mostDebt is the debt from which on mutations wait.
func (p *purse) mostDebt() float64 { return p.rate * maxDebt.Seconds() }

// refill fills the budget for the time since it was filled last. If the clock was set back, it
// fills nothing.
func (p *purse) refill(now time.Time) {
	if passed := now.Sub(p.at).Seconds(); passed > 0 {
		repaid := min(p.debt, repayment*p.rate*passed)
		p.debt -= repaid
		p.left = max(p.left, min(p.size(), p.left+p.rate*passed-repaid))
		p.recent *= math.Exp2(-passed)
	}
	p.at = now
}

// owe adds to the debt, up to its greatest, and returns what it has added.
func (p *purse) owe(price float64) float64 {
	added := min(price, max(0, p.rate*greatestDebt.Seconds()-p.debt))
	p.debt += added
	return added
}

// wait returns the time, in whole milliseconds, after which a request is admitted. It is 0 if it is
// admitted now.
func (p *purse) wait(writes bool) time.Duration {
	over := p.debt - p.mostDebt()
	waitsForDebt := writes && over >= 0
	if p.left > 0 && !waitsForDebt {
		return 0
	}
	wait := p.until(-p.left)
	if waitsForDebt {
		wait = max(wait, seconds(over/(repayment*p.rate)))
	}
	return wait.Truncate(time.Millisecond) + time.Millisecond
}

// until returns the time in which the budget is filled with an amount.
func (p *purse) until(amount float64) time.Duration {
	slow := (1 - repayment) * p.rate // while there is a debt
	if debtTime := p.debt / (repayment * p.rate); amount > slow*debtTime {
		return seconds(debtTime + (amount-slow*debtTime)/p.rate)
	}
	return seconds(amount / slow)
}

func seconds(n float64) time.Duration { return time.Duration(math.Max(n, 0) * float64(time.Second)) }
