package sessions

import (
	"maps"
	"sync"
	"time"

	"cosmosblog/store/cosmos"
)

const (
	// rememberFor is the time for which a server remembers what an account has written, at least.
	// Projectors that are late are usually late by seconds.
	rememberFor = 5 * time.Minute

	// maxAccounts is the number of accounts after which a server remembers earlier ones for a shorter
	// time. They take about 10 MB.
	maxAccounts = 10_000
)

// accounts remembers the tokens of accounts, by user id. The zero value remembers none. It may be
// used concurrently.
type accounts struct {
	mu     sync.Mutex
	latest map[string]Token // since begun
	former map[string]Token // of the time before, which is forgotten next
	begun  time.Time
}

// remember adds what an operation of an account has changed. written are the states in the answers
// to its writes, and recalled is what recall returned when it began: unless another operation has
// written meanwhile, the states are later than those of recalled, whatever their numbers are.
func (a *accounts) remember(account string, recalled, done Token, written cosmos.SessionTokens, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	known := a.find(account)
	later := written.Clone()
	for container, token := range later {
		maps.DeleteFunc(token, func(id, _ string) bool { return known.Written[container][id] != recalled.Written[container][id] })
	}
	if len(a.latest) >= maxAccounts {
		a.former, a.latest, a.begun = a.latest, nil, now
	}
	if a.latest == nil {
		a.latest = map[string]Token{}
	}
	a.latest[account] = known.followedBy(done, later)
}

// correct replaces what recall returned for an account, unless it has changed since.
func (a *accounts) correct(account string, recalled, corrected Token) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.find(account).String() != recalled.String() {
		return
	}
	for _, of := range []map[string]Token{a.latest, a.former} {
		if _, ok := of[account]; ok {
			of[account] = corrected
		}
	}
}

// recall returns what an account has changed in the last minutes.
func (a *accounts) recall(account string, now time.Time) Token {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	return a.find(account)
}

func (a *accounts) find(account string) Token {
	if token, ok := a.latest[account]; ok {
		return token
	}
	return a.former[account]
}

// forget forgets what is older than twice rememberFor.
func (a *accounts) forget(now time.Time) {
	switch age := now.Sub(a.begun); {
	case age < rememberFor:
	case age < 2*rememberFor:
		a.former, a.latest, a.begun = a.latest, nil, now
	default:
		a.former, a.latest, a.begun = nil, nil, now
	}
}
