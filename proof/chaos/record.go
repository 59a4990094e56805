package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"cosmosblog/proof/chaos/contract"
)

// record is what the clients of a round did and know. Its methods may be called concurrently.
type record struct {
	begun time.Time

	mu         sync.Mutex // guards the fields below
	operations []contract.Operation
	kills      []contract.Kill
	answers    map[string]int // number of operations by kind and outcome
	people     map[string]*profile
	posts      []item
	comments   []item
	versions   map[string]int  // the last version that an answer showed, by post
	usernames  map[string]bool // all that were ever requested, in lower case
	serial     int
}

// profile is what the clients of an account know about its user.
type profile struct {
	id       string // of the user, also of a former one
	exists   bool
	username string
}

// item is a post or a comment, by its id. A comment has the id of its post too.
type item struct{ id, postID, account string }

func newRecord() *record {
	return &record{begun: time.Now(), answers: map[string]int{}, people: map[string]*profile{},
		versions: map[string]int{}, usernames: map[string]bool{}}
}

func (r *record) now() time.Duration { return time.Since(r.begun) }

// next returns a number that was not returned before.
func (r *record) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial++
	return r.serial
}

// profile returns what is known about the user of an account.
func (r *record) profile(account string) profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.person(account)
}

func (r *record) person(account string) *profile {
	if r.people[account] == nil {
		r.people[account] = &profile{}
	}
	return r.people[account]
}

// add records an operation, and what its answer says.
func (r *record) add(o contract.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations = append(r.operations, o)
	r.answers[string(o.Kind)+" "+outcome(o)]++
	if o.Username != "" {
		r.usernames[strings.ToLower(o.Username)] = true
	}
	r.learnUser(o)
	if o.Outcome != contract.Acknowledged {
		return
	}
	if o.Post != nil {
		r.versions[o.Post.ID] = o.Post.Version
	}
	switch {
	case o.Kind == contract.CreatePost && o.Post != nil:
		r.posts = append(r.posts, item{o.Post.ID, o.Post.ID, o.Account})
	case o.Kind == contract.CreateComment && o.Comment != nil:
		r.comments = append(r.comments, item{o.Comment.ID, o.PostID, o.Account})
	}
}

// addKill records a kill of a server, which began at a time and has ended.
func (r *record) addKill(server int, begun time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills = append(r.kills, contract.Kill{Server: server, From: begun.Sub(r.begun), Until: r.now()})
}

// learnUser updates the profile of an account.
func (r *record) learnUser(o contract.Operation) {
	p := r.person(o.Account)
	switch {
	case o.Code == "USER_REQUIRED" || o.Code == "DELETION_UNDER_WAY":
		p.exists = false
	case o.Code == "ACCOUNT_HAS_USER":
		p.exists = true
	case o.Outcome != contract.Acknowledged:
	case o.Kind == contract.DeleteUser:
		p.exists = false
	case o.User != nil:
		p.id, p.username, p.exists = o.User.ID, o.User.Username, true
	}
}

func outcome(o contract.Operation) string {
	switch o.Outcome {
	case contract.Acknowledged:
		if o.Stale {
			return "stale"
		}
		return "ok"
	case contract.Unknown:
		return "unknown"
	}
	return o.Code
}

// newest is the number of items of which one is chosen, most of the time. Few items make many
// conflicts.
const newest = 6

// randomItem returns an item that an account may or may not have created, often one of the newest.
// own selects those of the account. It returns false if there is none.
func randomItem(items []item, account string, own bool, random *rand.Rand) (item, bool) {
	if own {
		items = slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.account != account })
	}
	if len(items) == 0 {
		return item{}, false
	}
	n := len(items)
	if random.IntN(4) > 0 {
		n = min(n, newest)
	}
	return items[len(items)-1-random.IntN(n)], true
}

func (r *record) randomPost(account string, own bool, random *rand.Rand) (item, int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := randomItem(r.posts, account, own, random)
	return i, r.versions[i.id], ok
}

func (r *record) randomComment(account string, own bool, random *rand.Rand) (item, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return randomItem(r.comments, account, own, random)
}

// history returns the history of all operations that have ended.
func (r *record) history(lag time.Duration) *contract.History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &contract.History{Operations: slices.Clone(r.operations), Kills: slices.Clone(r.kills), Lag: lag}
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprint(len(r.operations), " requests:")
	for _, answer := range slices.Sorted(maps.Keys(r.answers)) {
		text += fmt.Sprintf(" %s %d,", answer, r.answers[answer])
	}
	return strings.TrimSuffix(text, ",")
}
