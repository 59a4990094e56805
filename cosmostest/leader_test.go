package cosmostest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/cosmostest"
)

// pair is an account that follows another one, as if that were in another process.
type pair struct {
	*shop // the follower's account, to which clients send their requests
	leads *cosmostest.Account
}

// newPair opens two accounts. handler returns what the follower's account takes for its leader.
func newPair(t *testing.T, leads, follows cosmostest.Options, handler func(*cosmostest.Account) http.Handler) *pair {
	t.Helper()
	p := &pair{leads: cosmostest.New(t, leads)}
	follows.Key, follows.Leader = p.leads.Key(), handler(p.leads)
	account, err := cosmostest.Open(follows) // a test closes it itself
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { account.Close() })
	p.shop = &shop{Account: account, client: newClient(t, account.Transport)}
	p.provision(1)
	return p
}

func itself(a *cosmostest.Account) http.Handler { return a }

// TestLeader checks that an account that follows another one executes its writes, and can be late.
func TestLeader(t *testing.T) {
	p := newPair(t, cosmostest.Options{}, cosmostest.Options{}, itself)
	leader := newClient(t, p.leads.Transport)
	p.put("ada", "1")
	p.Follower.Hold()
	p.put("ada", "2")
	if p.ids("ada") != "1 2" || leader.ids("ada") != "1 2" || p.seen("ada") != "1" {
		t.Errorf("the writer sees %q, the leader has %q, a new client sees %q", p.ids("ada"), leader.ids("ada"), p.seen("ada"))
	}
	p.Follower.CatchUp()
	if p.seen("ada") != "1 2" || p.Follower.Stale() != 1 {
		t.Errorf("after CatchUp, a new client sees %q; %d reads were stale", p.seen("ada"), p.Follower.Stale())
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if leader.ids("ada") != "1 2" {
		t.Error("Close closed the leader")
	}
}

// TestLeaderIsThrottled checks that a throughput bounds what the leader executes, and does not stop
// the follower.
func TestLeaderIsThrottled(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	options := cosmostest.Options{Now: clock.Now, Throughput: 20}
	p := newPair(t, options, options, itself)
	p.Follower.Hold()
	refused := 0
	for i := range 30 {
		if statusOf(p.tryPut("ada", fmt.Sprint(i))) == http.StatusTooManyRequests {
			refused++
		}
		clock.Advance(200 * time.Millisecond)
	}
	if refused == 0 || refused > 25 {
		t.Errorf("%d of 30 writes were refused", refused)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// createUntil is a procedure that creates an order until a time, and answers whether it was late.
const createUntil = `function (id, deadline) {
	if (Date.now() > deadline) return __.response.setBody('late');
	var c = getContext().getCollection();
	c.createDocument(c.getSelfLink(), {id: id, customer: 'ada'}, function (err) { if (err) throw err });
}`

// TestReplay changes the deadline in a write for the follower, whose clock is an hour later.
func TestReplay(t *testing.T) {
	later := cosmostest.NewClock(noon.Add(time.Hour))
	p := newPair(t, cosmostest.Options{Now: cosmostest.NewClock(noon).Now}, cosmostest.Options{
		Now: later.Now,
		Replay: func(body, answer []byte) []byte {
			if string(answer) == `"late"` {
				return bytes.ReplaceAll(body, []byte("9999999999999"), []byte("0"))
			}
			return bytes.ReplaceAll(body, fmt.Append(nil, noon.UnixMilli()), []byte("9999999999999"))
		},
	}, itself)
	p.register("create", createUntil)
	for id, deadline := range map[string]time.Time{"late": noon.Add(-time.Second), "early": noon} {
		p.expect(http.StatusOK, p.execute("create", "ada", fmt.Sprintf(`[%q,%d]`, id, deadline.UnixMilli())))
	}
	p.put("ada", "other")
	p.Follower.Hold()
	p.put("ada", "so that the follower answers")
	if got := p.seen("ada"); got != "early other" {
		t.Errorf("the follower has %q", got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseFindsDivergedFollower lets an account follow a leader that executes something else.
func TestCloseFindsDivergedFollower(t *testing.T) {
	change := func(leader *cosmostest.Account) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := bytes.ReplaceAll(cosmostest.Body(r), []byte("first"), []byte("other"))
			r.Body = http.NoBody
			if len(body) > 0 {
				r.Body = readCloser{bytes.NewReader(body)}
				r.ContentLength = int64(len(body))
			}
			leader.ServeHTTP(w, r)
		})
	}
	p := newPair(t, cosmostest.Options{}, cosmostest.Options{}, change)
	p.Follower.Hold()
	p.put("ada", "first")
	p.put("ada", "second")
	if p.Follower.Diverged() != "" {
		t.Errorf("diverged without a write: %s", p.Follower.Diverged())
	}
	wantStatus(t, "a read of the writer", p.tryGet("ada", "other"), http.StatusOK)
	wantStatus(t, "a delete", p.remove("ada", "other"), http.StatusOK)
	err := p.Close()
	if err == nil || !strings.Contains(err.Error(), "DELETE /"+docs+"/other") {
		t.Errorf("Close found nothing: %v", err)
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// TestCloseFindsChance checks that Close compares the items of leader and follower: a script that
// rolls dice answers the same on both, and writes something else.
func TestCloseFindsChance(t *testing.T) {
	account, err := cosmostest.Open(cosmostest.Options{Follower: true})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, account.Transport)
	c.provision(1)
	c.register("roll", `function () {
		var c = getContext().getCollection();
		c.createDocument(c.getSelfLink(), {id: 'roll', customer: 'ada', n: Math.random()});
	}`)
	c.expect(http.StatusOK, c.execute("roll", "ada", "[]"))
	if err := account.Close(); err == nil || !strings.Contains(err.Error(), `"id":"roll"`) {
		t.Errorf("Close found nothing: %v", err)
	}
}
