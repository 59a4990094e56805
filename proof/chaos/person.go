package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"cosmosblog/proof/chaos/contract"
)

// person is a client of the API that acts as docs/clients.md recommends: it sends its latest
// session token to any of the servers, and repeats requests of unknown outcome with their key.
// Some people stay at one server, and send no session token. Strangers only read.
type person struct {
	account string // empty for a stranger
	token   string
	number  int
	servers []string
	home    int    // the only server of a person; -1 for a person of all servers
	session string // the latest session token
	client  *http.Client
	random  *rand.Rand
	record  *record
}

// patience is how long a client waits for an answer. Paused servers answer later.
const patience = 3 * time.Second

// addPeople adds the clients. The first accounts have two each, as a person with two browser tabs.
func (r *round) addPeople(ctx context.Context, servers []string) error {
	r.record = newRecord()
	connections := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for i := range clients {
		account := fmt.Sprintf("person%d", i%accounts)
		token, err := r.do(ctx, "token", "--sub", account, "--data", r.serverData())
		if err != nil {
			return err
		}
		home := -1
		if i%3 == 0 {
			home = i / 3 % len(servers)
		}
		r.people = append(r.people, &person{account: account, token: token, number: i, servers: servers, home: home,
			client: connections, random: r.newRandom(), record: r.record})
	}
	for i := range strangers {
		r.people = append(r.people, &person{number: clients + i, servers: servers, home: -1, client: connections,
			random: r.newRandom(), record: r.record})
	}
	return nil
}

// act sends requests until ctx ends. The last request still gets its answer.
func (p *person) act(ctx context.Context) {
	for wait(ctx, time.Duration(p.random.Int64N(int64(40*time.Millisecond)))) {
		if p.account == "" {
			for range 5 {
				p.readPost(ctx)
			}
			p.readComment(ctx)
			continue
		}
		if !p.record.profile(p.account).exists {
			p.signUp(ctx)
			continue
		}
		roll := p.random.IntN(totalShare)
		for _, a := range actions {
			if roll -= a.share; roll < 0 {
				a.do(p, ctx)
				break
			}
		}
	}
}

// try sends a request once, and records it.
func (p *person) try(ctx context.Context, o contract.Operation) contract.Operation {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	document, variables := o.Request()
	to := api{token: p.token, client: p.client}
	if o.Server = p.home; o.Server < 0 {
		o.Server, to.session = p.random.IntN(len(p.servers)), p.session
	}
	to.url = p.servers[o.Server]
	var data map[string]json.RawMessage
	o.Account, o.Client, o.SentSession, o.Invoked = p.account, p.number, to.session != "", p.record.now()
	session, stale, err := to.executeInSession(ctx, document, variables, &data)
	o.Completed = p.record.now()
	if o.GotSession, o.Stale = session != "", stale; o.GotSession {
		p.session = session
	}
	answer := data[string(o.Kind)]
	switch hasAnswer := len(answer) > 0 && string(answer) != "null"; {
	case err == nil || hasAnswer && !o.Kind.IsRead(): // a field of the answer may have failed, but not the mutation
		o.Outcome = contract.Acknowledged
		if hasAnswer {
			o.Decode(answer)
		}
	case errorCode(err) != "":
		o.Code = errorCode(err)
		o.Outcome = contract.OutcomeOf(o.Code)
	default:
		if lost, ok := errors.AsType[*net.OpError](err); ok && lost.Op == "dial" {
			o.Outcome, o.Code = contract.Rejected, contract.NotSent
		}
	}
	p.record.add(o)
	return o
}

// tries is how often a client sends a request at most.
const tries = 6

// perform executes a mutation, and sometimes looks at its result at once.
func (p *person) perform(ctx context.Context, o contract.Operation) contract.Operation {
	done := p.repeat(ctx, o)
	if done.Outcome == contract.Acknowledged {
		p.look(ctx, done)
	}
	return done
}

// look reads what an acknowledged mutation has changed, in some of all cases.
func (p *person) look(ctx context.Context, done contract.Operation) {
	post := done.PostID
	if done.Kind == contract.CreatePost && done.Post != nil {
		post = done.Post.ID
	}
	switch roll := p.random.IntN(10); {
	case roll < 2:
		p.try(ctx, contract.Operation{Kind: contract.ReadFeed})
	case roll < 4 && post != "":
		p.try(ctx, contract.Operation{Kind: contract.ReadPost, PostID: post})
	case roll < 4:
		p.try(ctx, contract.Operation{Kind: contract.ReadViewer})
	case roll < 5 && done.CommentID != "":
		p.try(ctx, contract.Operation{Kind: contract.ReadComment, CommentID: done.CommentID, PostID: post})
	}
}

// repeat sends a request, and repeats it as docs/clients.md recommends.
func (p *person) repeat(ctx context.Context, o contract.Operation) contract.Operation {
	for i := 0; ; i++ {
		done := p.try(ctx, o)
		isRepeatable := !strings.HasPrefix(o.Key, contract.WithoutKey)
		switch {
		case i == tries-1:
			return done
		case done.Outcome == contract.Unknown && isRepeatable:
		case done.Code == "TRY_AGAIN", done.Code == "THROTTLED", done.Code == "OVERLOADED", done.Code == contract.NotSent:
		default:
			return done
		}
		if !wait(ctx, time.Duration(p.random.Int64N(int64(500*time.Millisecond)))) {
			return done
		}
	}
}
