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

// root is a root field of the API.
type root struct {
	arguments, call string // the declaration of variables, and the arguments
	fields          string
}

const (
	userFields    = ` { id username } `
	contentFields = `{ id title content contentLength excerpt commentCount recentComments` + recentFields + ` likeCount version creationDate updatedDate author` + userFields + `}`
	recentFields  = ` { id excerpt author { id username } }`
	commentFields = ` { id content excerpt creationDate author` + userFields + `} `
)

var roots = map[contract.Kind]root{
	contract.CreateUser:    input("CreateUserInput", "user"+userFields),
	contract.UpdateUser:    input("UpdateUserInput", "user"+userFields),
	contract.DeleteUser:    input("DeleteUserInput", "user"+userFields),
	contract.CreatePost:    input("CreatePostInput", "post"+contentFields),
	contract.UpdatePost:    input("UpdatePostInput", "post"+contentFields),
	contract.DeletePost:    input("DeletePostInput", "post"+contentFields),
	contract.CreateComment: input("CreateCommentInput", "post"+contentFields+" comment"+commentFields),
	contract.UpdateComment: input("UpdateCommentInput", "comment"+commentFields),
	contract.DeleteComment: input("DeleteCommentInput", "post"+contentFields),
	contract.LikePost:      input("LikePostInput", "post"+contentFields),
	contract.UnlikePost:    input("UnlikePostInput", "post"+contentFields),
	contract.ReadPost:      {"($id: ID!)", "(id: $id)", strings.Replace(contentFields, "{", "{ viewerHasLiked", 1)},
	contract.ReadViewer:    {"", "", userFields},
	contract.ReadComment:   {"($id: ID!)", "(id: $id)", "{ ... on Comment" + commentFields + "}"},
	contract.ReadFeed:      {"", fmt.Sprintf("(first: %d)", contract.FeedPage), "{ nodes " + shortPostFields + " }"},
}

func input(name, fields string) root {
	return root{"($input: " + name + "!)", "(input: $input)", " { " + fields + " }"}
}

// variables returns the variables of an operation.
func variables(o contract.Operation) values {
	v := values{}
	set := func(name, value string) {
		if value != "" {
			v[name] = value
		}
	}
	switch o.Kind {
	case contract.ReadPost:
		return values{"id": o.PostID}
	case contract.ReadComment:
		return values{"id": o.CommentID}
	case contract.ReadViewer, contract.ReadFeed:
		return nil
	case contract.UpdatePost, contract.DeletePost:
		set("id", o.PostID)
	case contract.UpdateComment, contract.DeleteComment:
		set("id", o.CommentID)
	case contract.CreateComment, contract.LikePost, contract.UnlikePost:
		set("postId", o.PostID)
	}
	set("username", o.Username)
	set("title", o.Title)
	set("content", o.Content)
	if !strings.HasPrefix(o.Key, withoutKey) {
		set("idempotencyKey", o.Key)
	}
	if o.Version > 0 {
		v["version"] = o.Version
	}
	return values{"input": v}
}

// withoutKey is the beginning of the key of an operation that is sent without one.
const withoutKey = "none "

// try sends a request once, and records it.
func (p *person) try(ctx context.Context, o contract.Operation) contract.Operation {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r, isQuery := roots[o.Kind], o.Kind.IsRead()
	document := "mutation " + r.arguments + "{ " + string(o.Kind) + r.call + r.fields + " }"
	if isQuery {
		document = "query " + strings.TrimPrefix(document, "mutation ")
	}
	to := api{token: p.token, client: p.client}
	if o.Server = p.home; o.Server < 0 {
		o.Server, to.session = p.random.IntN(len(p.servers)), p.session
	}
	to.url = p.servers[o.Server]
	var data map[string]json.RawMessage
	o.Account, o.Client, o.SentSession, o.Invoked = p.account, p.number, to.session != "", p.record.now()
	session, stale, err := to.executeInSession(ctx, document, variables(o), &data)
	o.Completed = p.record.now()
	if o.GotSession, o.Stale = session != "", stale; o.GotSession {
		p.session = session
	}
	answer := data[string(o.Kind)]
	switch hasAnswer := len(answer) > 0 && string(answer) != "null"; {
	case err == nil || hasAnswer && !isQuery: // a field of the answer may have failed, but not the mutation
		o.Outcome = contract.Acknowledged
		if hasAnswer {
			decodeAnswer(&o, answer)
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

// decodeAnswer sets the parts of an answer.
func decodeAnswer(o *contract.Operation, answer json.RawMessage) {
	var err error
	switch o.Kind {
	case contract.ReadPost:
		var liked struct{ ViewerHasLiked *bool }
		err = errors.Join(json.Unmarshal(answer, &o.Post), json.Unmarshal(answer, &liked))
		o.Liked = liked.ViewerHasLiked
	case contract.ReadViewer:
		err = json.Unmarshal(answer, &o.User)
	case contract.ReadComment:
		err = json.Unmarshal(answer, &o.Comment)
	default:
		var parts struct {
			User    *contract.User
			Post    *contract.Post
			Comment *contract.Comment
			Nodes   []contract.Post
		}
		err = json.Unmarshal(answer, &parts)
		o.User, o.Post, o.Comment, o.Feed = parts.User, parts.Post, parts.Comment, parts.Nodes
	}
	if err != nil {
		panic(fmt.Sprintf("decoding %s: %v", answer, err)) // the fields of roots and contract differ
	}
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
		isRepeatable := !strings.HasPrefix(o.Key, withoutKey)
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
