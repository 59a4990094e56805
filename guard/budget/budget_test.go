package budget_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/guard/budget"
)

// clock stands still until it is advanced. It may be used concurrently.
type clock struct{ nanoseconds atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(0, c.nanoseconds.Load()) }
func (c *clock) Advance(d time.Duration) { c.nanoseconds.Add(int64(d)) }

func newBooks(account, address float64) (*budget.Books, *clock) {
	c := new(clock)
	c.Advance(20_000 * 24 * time.Hour)
	return budget.New(budget.Options{Account: account, Address: address, Now: c.Now}), c
}

var home = netip.MustParseAddr("203.0.113.7")

// spend sends a request that spends its price. It returns whether it was admitted, and the wait.
func spend(b *budget.Books, account string, address netip.Addr, price, spent float64) (wait time.Duration) {
	p, err := b.Begin(account, address, false, price)
	if err != nil {
		if code := blog.CodeOf(err); code != blog.BudgetExceeded {
			panic(code)
		}
		return blog.RetryAfterOf(err)
	}
	p.End("Feed", budget.Spending{Spent: spent})
	return 0
}

// left returns what is left of a budget.
func left(t *testing.T, p *budget.Payment, kind budget.Kind) float64 {
	t.Helper()
	for _, s := range p.States() {
		if s.Kind == kind {
			return s.Left
		}
	}
	t.Fatalf("there is no budget of the %v", kind)
	return 0
}

// TestBudgetIsSpent spends a full budget, waits as long as the refusal says, and spends again.
func TestBudgetIsSpent(t *testing.T) {
	b, clock := newBooks(100, 0)
	for range 10 {
		if wait := spend(b, "anna", home, 50, 100); wait != 0 {
			t.Fatalf("refused within the budget: wait %v", wait)
		}
	}
	if wait := spend(b, "anna", home, 50, 100); wait != time.Millisecond {
		t.Errorf("at 0 RU, the wait is %v", wait)
	}
	clock.Advance(time.Millisecond)
	if wait := spend(b, "anna", home, 50, 400.1); wait != 0 {
		t.Errorf("with anything left: refused for %v", wait)
	}
	wait := spend(b, "anna", home, 1, 1)
	if wait != 4001*time.Millisecond {
		t.Errorf("overdrawn by 400 RU at 100 RU/s, the wait is %v", wait)
	}
	if wait := spend(b, "bob", home, 50, 100); wait != 0 {
		t.Error("another account is refused")
	}
	clock.Advance(wait - time.Millisecond)
	if again := spend(b, "anna", home, 1, 1); again != time.Millisecond {
		t.Errorf("1 ms before the end of the wait, it is %v", again)
	}
	clock.Advance(time.Millisecond)
	if again := spend(b, "anna", home, 1, 1); again != 0 {
		t.Errorf("after the wait: refused for %v", again)
	}
	clock.Advance(time.Hour)
	p, err := b.Begin("anna", home, false, 1)
	if err != nil || left(t, p, budget.Account) != 999 {
		t.Errorf("after an hour, the budget has not exactly a burst: %v, %v", p.States(), err)
	}
}

// TestPriceIsHeld checks that a hundred requests at once are admitted as one after the other, and
// that those that spend less than their price give back the rest.
func TestPriceIsHeld(t *testing.T) {
	b, _ := newBooks(100, 0)
	var admitted []*budget.Payment
	for range 100 {
		if p, err := b.Begin("anna", home, false, 300); err == nil {
			admitted = append(admitted, p)
		}
	}
	if len(admitted) != 4 {
		t.Fatalf("%d requests of 300 RU were admitted with 1000 RU, want 4", len(admitted))
	}
	for _, p := range admitted {
		p.End("", budget.Spending{Spent: 1})
		p.End("", budget.Spending{Spent: 500}) // has no effect
	}
	if got := left(t, admitted[0], budget.Account); got != 996 {
		t.Errorf("%v RU are left, want 996", got)
	}
}

// TestUnknownCharge checks that a request whose client disconnected pays its price.
func TestUnknownCharge(t *testing.T) {
	b, _ := newBooks(100, 0)
	for _, test := range []struct{ spent, left float64 }{{10, 950}, {70, 880}} {
		p, _ := b.Begin("anna", home, false, 50)
		p.End("", budget.Spending{Spent: test.spent, Unknown: true})
		if got := left(t, p, budget.Account); got != test.left {
			t.Errorf("after a request of 50 RU with a known charge of %v, %v RU are left, want %v", test.spent, got, test.left)
		}
	}
}

// TestBackgroundWork checks that background work becomes a debt of both budgets, which half of the
// rate repays, and that mutations wait if it is large.
func TestBackgroundWork(t *testing.T) {
	b, clock := newBooks(100, 500)
	write := func(account string, caused float64) time.Duration {
		p, err := b.Begin(account, home, true, 10)
		p.End("", budget.Spending{Spent: 10, Caused: map[string]float64{"sweep": caused - 1, "projection": 1}})
		return blog.RetryAfterOf(err)
	}
	states := func() string {
		p, _ := b.Begin("anna", home, false, 0)
		text := ""
		for _, s := range p.States() {
			text += fmt.Sprintf("%v: %.0f left, %.0f debt, full in %v; ", s.Kind, s.Left, s.Debt, s.Full)
		}
		return text
	}
	write("anna", 1500)
	if got, want := states(), "account: 990 left, 1500 debt, full in 200ms; address: 4990 left, 1500 debt, full in 40ms; "; got != want {
		t.Errorf("after a rename: %s, want %s", got, want)
	}
	spend(b, "anna", home, 10, 990)
	clock.Advance(10 * time.Second)
	if got, want := states(), "account: 500 left, 1000 debt, full in 10s; address: 5000 left, 0 debt, full in 0s; "; got != want {
		t.Errorf("after 10 s: %s, want %s", got, want)
	}
	if wait := write("anna", 4999); wait != 0 {
		t.Errorf("a mutation with a debt of 1000 RU waits %v", wait)
	}
	if wait := write("anna", 1000); wait != 0 {
		t.Errorf("a mutation with a debt below a minute's RU waits %v", wait)
	}
	if wait := write("anna", 1000); wait != 19_981*time.Millisecond {
		t.Errorf("with a debt of 6999 RU, a mutation waits %v", wait)
	}
	if wait := spend(b, "anna", home, 1, 1); wait != 0 {
		t.Errorf("with a debt of 6999 RU, a query waits %v", wait)
	}
	if wait := write("bob", 1e9); wait != 0 {
		t.Errorf("another account waits %v", wait)
	}
	if wait := write("bob", 1); wait != 18*time.Minute+time.Millisecond {
		t.Errorf("after a purge of a billion RU, the next mutation waits %v", wait)
	}
}

// TestRequestsPayFromBoth checks that an account and its address both pay, that accounts share an
// address, and that anonymous requests share it with them.
func TestRequestsPayFromBoth(t *testing.T) {
	b, _ := newBooks(100, 150)
	for range 10 {
		spend(b, "anna", home, 1, 100)
	}
	if spend(b, "anna", netip.MustParseAddr("203.0.113.8"), 1, 1) == 0 {
		t.Error("an account has more at another address")
	}
	for range 5 {
		spend(b, "", home, 1, 100)
	}
	_, err := b.Begin("bob", home, false, 1)
	if blog.CodeOf(err) != blog.BudgetExceeded || !strings.Contains(err.Error(), "address") {
		t.Errorf("with the address's budget used up: %v", err)
	}
	if got := b.Totals().Refused; got != [2]int{1, 1} {
		t.Errorf("refused by accounts and addresses: %v", got)
	}
}

// TestNetworks checks which addresses share a budget.
func TestNetworks(t *testing.T) {
	for name, test := range map[string]struct {
		one, other string
		shared     bool
	}{
		"one /64":      {"2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true},
		"another /64":  {"2001:db8::1", "2001:db8:0:1::1", false},
		"one address":  {"192.0.2.1", "192.0.2.1", true},
		"a mapped one": {"192.0.2.1", "::ffff:192.0.2.1", false}, // package proxy unmaps it
		"the next":     {"192.0.2.1", "192.0.2.2", false},
	} {
		b, _ := newBooks(0, 1)
		spend(b, "", netip.MustParseAddr(test.one), 1, 100)
		if shared := spend(b, "", netip.MustParseAddr(test.other), 1, 1) != 0; shared != test.shared {
			t.Errorf("%s: shared %t", name, shared)
		}
	}
	b, _ := newBooks(100, 1)
	for range 20 {
		if spend(b, "", netip.Addr{}, 1, 100) != 0 {
			t.Fatal("requests without an address share a budget")
		}
	}
}

// TestNoBudget checks that rates of 0 refuse nothing, and count.
func TestNoBudget(t *testing.T) {
	b, _ := newBooks(0, 0)
	for range 1000 {
		if spend(b, "anna", home, 500, 1000) != 0 {
			t.Fatal("refused without a budget")
		}
	}
	if got := b.Totals().Spent; got != 1e6 || b.Limit() {
		t.Errorf("spent %v RU, limits %t", got, b.Limit())
	}
}

// TestClockIsSetBack checks that a clock that is set back gives nothing and takes nothing.
func TestClockIsSetBack(t *testing.T) {
	b, clock := newBooks(100, 0)
	spend(b, "anna", home, 1, 1200)
	clock.Advance(-time.Hour)
	if wait := spend(b, "anna", home, 1, 1); wait != 2001*time.Millisecond {
		t.Errorf("the wait is %v", wait)
	}
	clock.Advance(2001 * time.Millisecond)
	if wait := spend(b, "anna", home, 1, 1); wait != 0 {
		t.Errorf("after the wait: %v", wait)
	}
}

// TestSpendingSettles sends random requests at full speed, and checks that what they spend over
// time is the budget, whatever they spend each and however many run at once.
func TestSpendingSettles(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(1, seed))
		rate := float64(1 + random.IntN(2000))
		b, clock := newBooks(0, rate)
		running := map[*budget.Payment]float64{}
		total, begun, mostRunning := 0.0, clock.Now(), 0
		const greatest = 1000.0 // of one request
		for clock.Now().Sub(begun) < time.Minute {
			price := random.Float64() * 500
			if p, err := b.Begin("", home, false, price); err == nil {
				running[p] = min(price*3*random.Float64(), greatest)
			}
			mostRunning = max(mostRunning, len(running))
			clock.Advance(time.Duration(random.IntN(20)) * time.Millisecond)
			for p, spent := range running {
				if random.IntN(4) == 0 {
					p.End("", budget.Spending{Spent: spent})
					total += spent
					delete(running, p)
				}
			}
		}
		over := float64(mostRunning+1) * greatest // by those that were admitted together
		if least, most := rate*60*0.8-over, rate*(60+budget.Burst.Seconds())+over; total < least || total > most {
			t.Errorf("seed %d: at %v RU/s, %v RU were spent in a minute, want %v to %v", seed, rate, total, least, most)
		}
	}
}

// TestCheck checks that a mutation is refused if those before it in its request used up the budget.
func TestCheck(t *testing.T) {
	b, _ := newBooks(100, 0)
	p, _ := b.Begin("anna", home, true, 60)
	spending := func(spent, caused float64) budget.Spending {
		return budget.Spending{Spent: spent, Caused: map[string]float64{"sweep": caused}}
	}
	for _, test := range []struct {
		spent, caused float64
		wait          time.Duration
	}{{0, 0, 0}, {60, 0, 0}, {999, 0, 0}, {1000, 0, time.Millisecond}, {1500, 0, 5001 * time.Millisecond}, {1500, 5999, 10_001 * time.Millisecond},
		{1500, 9000, 60_001 * time.Millisecond}} {
		if wait := blog.RetryAfterOf(p.Check(spending(test.spent, test.caused))); wait != test.wait {
			t.Errorf("after %v RU and background work of %v RU: wait %v, want %v", test.spent, test.caused, wait, test.wait)
		}
	}
	p.End("", spending(60, 0))
	if got := left(t, p, budget.Account); got != 940 {
		t.Errorf("Check has changed the budget: %v RU are left, want 940", got)
	}
	if (*budget.Payment)(nil).Check(spending(1e9, 0)) != nil {
		t.Error("a request without a payment is refused")
	}
}

// TestMemory checks that more addresses than are held, and the names of accounts, keep
// little memory.
func TestMemory(t *testing.T) {
	b, clock := newBooks(100, 100)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 200_000 {
		body := ""
		if i%500 == 0 {
			body = strings.Repeat("x", 100_000)
		}
		body = fmt.Sprintf("u_%d%s", i, body)
		spend(b, body[:2+len(fmt.Sprint(i))], netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1, 1)
	}
	clock.Advance(time.Second)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 100<<20 {
		t.Errorf("%d MB are kept after 200,000 addresses", kept>>20)
	}
	runtime.KeepAlive(b)
}

// TestRaces uses the books from many goroutines.
func TestRaces(t *testing.T) {
	b, clock := newBooks(1e6, 1e6)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 200 {
				p, err := b.Begin(fmt.Sprint("u_", i%4), home, true, 10)
				if err != nil {
					t.Error(err)
					return
				}
				p.Check(budget.Spending{Spent: 1})
				p.States()
				p.End("Feed", budget.Spending{Spent: 1, Caused: map[string]float64{"sweep": 2}})
				if j%50 == 0 {
					clock.Advance(time.Millisecond)
					b.Top(3)
				}
			}
		})
	}
	all.Wait()
	got := b.Totals()
	if got.Spent != 3200 || got.Caused["sweep"] != 6400 {
		t.Errorf("totals %+v", got)
	}
}

// TestTop checks the lists of those who spend most, with more accounts than a list holds.
func TestTop(t *testing.T) {
	b, clock := newBooks(1e9, 0.1)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 50_000 {
		address := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		spend(b, fmt.Sprint("small", i), address, 0, random.Float64())
		if i%100 == 0 {
			p, _ := b.Begin("large", netip.Addr{}, false, 1)
			p.End("Rename", budget.Spending{Spent: 5, Caused: map[string]float64{"sweep": 95}})
		}
	}
	attacker := netip.MustParseAddr("192.0.2.1")
	spend(b, "", attacker, 1, 100_000)
	for range 7 {
		spend(b, "", attacker, 1, 1)
	}
	clock.Advance(time.Minute)
	top := b.Top(2)
	first := top.Accounts[0]
	if first.Name != "large" || first.Caused != 47_500 || math.Abs(first.Spent-2500) > 100 {
		t.Errorf("the first account is %+v", first)
	}
	if first := top.Addresses[0]; first.Name != "192.0.2.1" || first.Refused != 7 || first.Spent < 100_000 {
		t.Errorf("the first address is %+v", first)
	}
	if len(top.Operations) != 2 || top.Operations[0].Name != "Feed" || top.Operations[1].Name != "Rename" {
		t.Errorf("operations %+v", top.Operations)
	}
	if len(top.Work) != 1 || top.Work[0].Caused != 47_500 || top.Seconds != 60 {
		t.Errorf("background work %+v in %v s", top.Work, top.Seconds)
	}
	clock.Advance(5 * time.Minute)
	spend(b, "late", home, 1, 1)
	if top := b.Top(1); top.Accounts[0].Name != "large" || top.Seconds != 360 {
		t.Errorf("after a period, the first account is %+v", top.Accounts[0])
	}
	clock.Advance(5 * time.Minute)
	if top := b.Top(1); top.Accounts[0].Name != "late" {
		t.Errorf("after two periods, the first account is %+v", top.Accounts[0])
	}
	clock.Advance(time.Hour)
	if top := b.Top(1); len(top.Accounts) != 0 || top.Seconds != 0 {
		t.Errorf("after an hour, the report is %+v", top)
	}
}
