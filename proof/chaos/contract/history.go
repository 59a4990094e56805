// Package contract checks a recorded history of API requests against the documented contract of
// cosmosblog: its schema and docs/clients.md. It is pure, so a history and the violations in it are
// all that goes in and out. It also has the documents of the requests, but sends none.
//
// Requests of different clients overlap, and the outcome of some is unknown. The checker therefore
// searches for an order of the requests that explains every answer: a request takes effect once
// between its invocation and its completion, or at any time after its invocation if its outcome is
// unknown. Each post, comment, like and account is checked by itself, because the contract orders
// requests only per object. A reported violation is one for which there is no such order. The
// reverse does not hold: for objects without versions, the checker compares each answer with the
// writes around it, but not all answers with each other.
package contract

import (
	"fmt"
	"math"
	"time"
)

// History is everything that clients did in one run.
type History struct {
	// Operations are all requests of all clients, in any order. A repeated request is a further
	// operation.
	Operations []Operation
	// Lag is the greatest age of the state in the answer of a read: that of what servers keep, and the
	// lag of replicas. It does not excuse answers that miss what their own client wrote.
	Lag time.Duration
	// Kills are all kills of servers, in any order.
	Kills []Kill
}

// Kill is a kill of a server: its process ended between two times. The server then forgot what
// accounts had written.
type Kill struct {
	Server      int
	From, Until time.Duration
}

// Kind is the root field of a request.
type Kind string

// The kinds of requests. The last four are reads: of a post, of the account's user, of a
// comment, and of the feed.
const (
	CreateUser    Kind = "createUser"
	UpdateUser    Kind = "updateUser"
	DeleteUser    Kind = "deleteUser"
	CreatePost    Kind = "createPost"
	UpdatePost    Kind = "updatePost"
	DeletePost    Kind = "deletePost"
	CreateComment Kind = "createComment"
	UpdateComment Kind = "updateComment"
	DeleteComment Kind = "deleteComment"
	LikePost      Kind = "likePost"
	UnlikePost    Kind = "unlikePost"
	ReadPost      Kind = "post"
	ReadViewer    Kind = "viewer"
	ReadComment   Kind = "node"
	ReadFeed      Kind = "feed"
)

// Outcome is what a client knows about a request.
type Outcome int

// The outcomes. Of an Unknown request, the client does not know whether it was, or will be,
// executed.
const (
	Unknown Outcome = iota
	Acknowledged
	Rejected
)

// OutcomeOf returns the outcome of a request that failed with a code of the schema's enum
// ErrorCode.
func OutcomeOf(code string) Outcome {
	switch code {
	case "TIMEOUT", "INTERNAL", "UNAVAILABLE":
		return Unknown
	}
	return Rejected
}

// Operation is one request of a client.
type Operation struct {
	Kind    Kind
	Account string // the subject of the client's token
	Client  int    // the number of the client. Several may share an account
	Server  int    // the number of the server to which the request went
	// SentSession reports whether the request had the latest session token that its client had got.
	SentSession bool
	// Invoked is the time before the request was sent, since the start of the run. Completed is the
	// time after its answer arrived, or the client stopped waiting.
	Invoked, Completed time.Duration
	Outcome            Outcome
	Code               string // of the error; NotSent if the request was not sent
	GotSession         bool   // whether the answer has a session token
	Stale              bool   // whether the answer says that it may lack what its client wrote

	// The arguments. Those that the request does not have are empty.
	Key            string // the idempotency key. Without one, a unique text
	PostID         string
	CommentID      string
	Title, Content string
	Version        int
	Username       string

	// The parts of the answer. They are nil in an acknowledged read if the object does not exist.
	User    *User
	Post    *Post
	Comment *Comment
	Liked   *bool // the post's viewerHasLiked
	Feed    []Post
}

// NotSent is the code of a request that no server received.
const NotSent = "NOT_SENT"

// User is a user in an answer.
type User struct {
	ID, Username string
	PostCount    int
}

// Post is a post in an answer. Content is empty if it was not requested.
type Post struct {
	ID, Title, Content, Excerpt string
	ContentLength               int
	Author                      User
	Version                     int
	CommentCount, LikeCount     int
	RecentComments              []RecentComment
	CreationDate                time.Time
	UpdatedDate                 *time.Time
}

// RecentComment is a comment as its post shows it.
type RecentComment struct {
	ID, Excerpt string
	Author      User
}

// Comment is a comment in an answer.
type Comment struct {
	ID, Content  string
	Excerpt      string
	Author       User
	CreationDate time.Time
}

// Snapshot is the state that the API shows when all requests have ended and the views are up to
// date.
type Snapshot struct {
	Users []User // every user that exists
	Posts []FinalPost
	// Names maps the usernames that anyone ever requested, in lower case, to the id of their user. It
	// has no entry for a username without a user.
	Names map[string]string
	Feed  []Post
	Lists map[string][]Post // the posts of each user, by the user's id
}

// FinalPost is a post with its lists.
type FinalPost struct {
	Post
	Comments []Comment
	Likes    []User // the users of the post's likes
}

// Violation is a contradiction between a history and the contract.
type Violation struct {
	Rule   Rule
	Detail string // names the object, and what contradicts what
}

func (v Violation) String() string { return string(v.Rule) + ": " + v.Detail }

// Rule names the part of the contract that was violated.
type Rule string

// The rules.
const (
	LostWrite         Rule = "lost write"           // an acknowledged write is missing
	LostUpdate        Rule = "lost update"          // edits of a post are not in one order
	RejectedWrite     Rule = "rejected write"       // a rejected write, or one that nobody requested, is there
	CreatedTwice      Rule = "created twice"        // an idempotency key created two items
	Resurrected       Rule = "resurrected"          // something deleted is there
	WriteToDeleted    Rule = "write to deleted"     // a write to something deleted was acknowledged
	WrongValue        Rule = "wrong value"          // no order of the writes leads to this value
	WrongAnswer       Rule = "wrong answer"         // an answer contradicts its own request or another answer
	StaleAnswer       Rule = "stale answer"         // an answer is older than it may be
	MissedOwnWrite    Rule = "missed own write"     // an answer lacks what its own client wrote
	FormerOwnName     Rule = "former own name"      // an answer shows a client's own user with a former username
	Unjustified       Rule = "unjustified code"     // the reason of a rejection never existed
	Forbidden         Rule = "forbidden write"      // someone else's item was changed
	DuplicateUsername Rule = "duplicate username"   // two users had a username at the same time
	StaleUsername     Rule = "stale username"       // a copy of a username differs from the user's
	DoubleLike        Rule = "double like"          // a user likes a post twice
	WrongCount        Rule = "wrong count"          // a count differs from its list, or from the writes
	WrongView         Rule = "wrong view"           // the feed or a list differs from the posts
	LeftOver          Rule = "left of deleted user" // something of a user who does not exist is there
)

// forever is the completion of a request of unknown outcome.
const forever = time.Duration(math.MaxInt64)

// end returns the time by which an operation has taken effect, if it ever does.
func (o *Operation) end() time.Duration {
	if o.Outcome == Unknown {
		return forever
	}
	return o.Completed
}

// mayBeDone reports whether the operation was executed, as far as its client knows.
func (o *Operation) mayBeDone() bool { return o.Outcome != Rejected }

func (o *Operation) isDone() bool { return o.Outcome == Acknowledged }

// IsRead reports whether requests of the kind change nothing.
func (k Kind) IsRead() bool {
	switch k {
	case ReadPost, ReadViewer, ReadComment, ReadFeed:
		return true
	}
	return false
}

func (o *Operation) String() string {
	text := fmt.Sprintf("%s by %s (client %d, server %d) at %v–%v", o.Kind, o.Account, o.Client, o.Server, o.Invoked, o.Completed)
	for _, argument := range []struct{ name, value string }{
		{"post", o.PostID}, {"comment", o.CommentID}, {"username", o.Username},
		{"title", o.Title}, {"content", o.Content}, {"key", o.Key},
	} {
		if argument.value != "" {
			text += fmt.Sprintf(" %s=%q", argument.name, argument.value)
		}
	}
	if o.Version > 0 {
		text += fmt.Sprint(" version=", o.Version)
	}
	if o.SentSession {
		text += " with a session token"
	}
	switch o.Outcome {
	case Acknowledged:
		return text + " acknowledged"
	case Rejected:
		return text + " rejected " + o.Code
	}
	return text + " unknown " + o.Code
}
