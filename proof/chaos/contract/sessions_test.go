package contract

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// withToken returns a request to the second server with the client's session token.
func withToken(o Operation) Operation {
	o.Server, o.SentSession = 1, true
	return o
}

// elsewhere returns a request to the second server without a session token.
func elsewhere(o Operation) Operation {
	o.Server = 1
	return o
}

func stale(o Operation) Operation {
	o.Stale = true
	return o
}

// oldRead is a read of the first post by its author, in its first version.
func oldRead() Operation {
	return Operation{Kind: ReadPost, Account: "ann", PostID: "p_1", Post: version(1, "one", "text")}
}

func feed(account string, posts ...Post) Operation {
	return Operation{Kind: ReadFeed, Account: account, Feed: posts}
}

// edited adds an edit of the first post to a history with lagging reads.
func (r *run) edited() *Operation {
	r.Lag = time.Second
	r.end(2, "b", "text")
	return r.done(edit("b", 1, 2))
}

// renamed adds a rename of ann. It returns the feed from before.
func (r *run) renamed() (former []Post) {
	r.Lag = time.Second
	former = slices.Clone(r.Feed)
	r.rename("u_ann", "Eve")
	r.done(naming(UpdateUser, "ann", "Eve"))
	return former
}

// posted adds a third post, by ann.
func (r *run) posted() *Post {
	r.Lag = time.Second
	p := Post{ID: "p_9", Title: "nine", Content: "text 9", Excerpt: "text 9", Author: ann, Version: 1, CreationDate: date(9)}
	r.done(Operation{Kind: CreatePost, Account: "ann", Key: "k9", Title: "nine", Content: "text 9", Post: &p})
	r.Posts = append(r.Posts, FinalPost{Post: p})
	r.views()
	return &p
}

// deleted adds a deletion of the first post. It returns the feed from before.
func (r *run) deleted() (former []Post) {
	r.Lag = time.Second
	former = r.Feed
	r.done(onPost(DeletePost, "ann"))
	r.Posts = r.Posts[1:]
	r.views()
	return former
}

// commented adds an edit of bob's comment.
func (r *run) commented() *Operation {
	r.Lag = time.Second
	r.Posts[0].Comments[0].Content = "said more"
	return r.done(comment1(UpdateComment, "said more"))
}

// unliked removes bob's like.
func (r *run) unliked() *Operation {
	r.Lag = time.Second
	r.removeLike()
	return r.done(onPost(UnlikePost, "bob"))
}

func liked(account string, yes bool, likes int) Operation {
	return Operation{Kind: ReadPost, Account: account, PostID: "p_1", Post: counted(likes, 1), Liked: &yes}
}

var nobody = Operation{Kind: ReadViewer, Account: "ann", User: &ann}

// validSessions are histories in which no answer misses what it must show its own client.
var validSessions = map[string]func(*run){
	"a read elsewhere without a token lacks an edit": func(r *run) { r.edited(); r.done(elsewhere(oldRead())) },
	"a stale read lacks an edit":                     func(r *run) { r.edited(); r.done(stale(withToken(oldRead()))) },
	"a read with the token of another client lacks an edit": func(r *run) {
		r.edited()
		r.done(withToken(oldRead())).Client = 1
	},
	"a read with a token lacks an edit whose answer had none": func(r *run) {
		r.edited().GotSession = false
		r.done(withToken(oldRead()))
	},
	"a read with a token lacks an edit of unknown outcome": func(r *run) {
		r.edited().Outcome = Unknown
		r.done(withToken(oldRead()))
	},
	"a killed server forgot an edit": func(r *run) {
		o := r.edited()
		r.Kills = []Kill{{0, o.Completed + 1, o.Completed + 2}}
		r.done(oldRead())
	},
	"a server was killed while it answered an edit": func(r *run) {
		o := r.edited()
		r.Kills = []Kill{{0, o.Completed - 1, o.Completed + 1}}
		r.done(oldRead())
	},
	"a server forgot an edit after a while": func(r *run) {
		r.edited()
		r.Lag = 10 * time.Minute
		o := r.done(oldRead())
		o.Invoked, o.Completed = o.Invoked+rememberedFor, o.Completed+rememberedFor
	},
	"a read that overlaps with an edit lacks it": func(r *run) {
		o := r.edited()
		r.done(oldRead()).Invoked = o.Completed
	},
	"a concurrent edit of another client wins": func(r *run) {
		first := r.commented()
		second := r.done(comment1(UpdateComment, "said less"))
		second.Client, second.Server, second.Invoked = 1, 1, first.Invoked
		r.done(comment1(ReadComment, "said less"))
		r.Posts[0].Comments[0].Content = "said less"
	},
	"a read shows an own edit that lost to a concurrent one": func(r *run) {
		first := r.commented()
		second := r.done(comment1(UpdateComment, "said less"))
		second.Client, second.Server, second.Invoked = 1, 1, first.Invoked
		r.done(comment1(ReadComment, "said more"))
		r.Posts[0].Comments[0].Content = "said less"
	},
	"another client's write during an own one is missing": func(r *run) {
		own := r.edited()
		other := r.unliked()
		other.Invoked, other.Completed = own.Invoked+1, own.Completed-1
		r.Operations[len(r.Operations)-2].Post.LikeCount = 0
		p := *version(2, "b", "text")
		r.done(withToken(Operation{Kind: ReadPost, Account: "ann", PostID: "p_1", Post: &p}))
	},
	"a stale feed lacks a new post":               func(r *run) { former := r.Feed; r.posted(); r.done(stale(withToken(feed("ann", former...)))) },
	"another client's feed lacks a new post":      func(r *run) { former := r.Feed; r.posted(); r.done(feed("bob", former...)) },
	"a feed elsewhere shows a deleted post":       func(r *run) { r.done(elsewhere(feed("ann", r.deleted()...))) },
	"a feed elsewhere shows a former own name":    func(r *run) { r.done(elsewhere(feed("ann", r.renamed()...))) },
	"another client's feed shows a former name":   func(r *run) { r.done(feed("bob", r.renamed()...)) },
	"a viewer elsewhere has the former name":      func(r *run) { r.renamed(); r.done(elsewhere(nobody)) },
	"a feed with a token shows the own new name":  func(r *run) { r.renamed(); r.done(withToken(feed("ann", r.Feed...))) },
	"a feed with a token shows the own new post":  func(r *run) { r.posted(); r.done(withToken(feed("ann", r.Feed...))) },
	"a feed with a token lacks the deleted post":  func(r *run) { r.deleted(); r.done(withToken(feed("ann", r.Feed...))) },
	"a like that was removed is shown to another": func(r *run) { r.unliked(); r.done(liked("ann", false, 1)) },
	"a full feed lacks an own post that is older": func(r *run) {
		r.Lag = time.Second
		r.done(withToken(feed("ann", newer(FeedPage)...)))
	},
	"a stale feed shows posts of the deleted own user": func(r *run) {
		former := r.Feed
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "bob", User: &bob})
		r.done(stale(feed("bob", former...)))
		r.removeBob()
	},
	"a repeated creation returns no token": func(r *run) {
		r.done(Operation{Kind: CreatePost, Account: "ann", Key: "k1", Title: "one", Content: "text", Post: version(1, "one", "text")}).GotSession = false
	},
}

// newer returns posts that are newer than those of newRun, in the order of the feed.
func newer(n int) (posts []Post) {
	for i := n; i > 0; i-- {
		posts = append(posts, Post{ID: fmt.Sprint("p_other", i), Author: User{ID: "u_other"}, Version: 1, CreationDate: date(i + 10)})
	}
	return posts
}

// plantedSessions are histories in which an answer misses what it must show its own client.
var plantedSessions = []plantedViolation{
	{"a read with a token lacks an edit", MissedOwnWrite, func(r *run) { r.edited(); r.done(withToken(oldRead())) }},
	{"a read from the same server lacks an edit", MissedOwnWrite, func(r *run) { r.edited(); r.done(oldRead()) }},
	{"another client of the account does not see an edit on the same server", MissedOwnWrite, func(r *run) {
		r.edited()
		r.done(oldRead()).Client = 1
	}},
	{"a token lacks an edit after its server was killed", MissedOwnWrite, func(r *run) {
		o := r.edited()
		r.Kills = []Kill{{0, o.Completed + 1, o.Completed + 2}}
		r.done(withToken(oldRead()))
	}},
	{"another server was killed", MissedOwnWrite, func(r *run) {
		o := r.edited()
		r.Kills = []Kill{{1, o.Completed + 1, o.Completed + 2}, {0, 0, 1}}
		r.done(oldRead())
	}},
	{"a read with a token is older than the last lag", StaleAnswer, func(r *run) {
		r.edited()
		o := r.done(stale(withToken(oldRead())))
		o.Invoked, o.Completed = o.Invoked+2*time.Second, o.Completed+2*time.Second
	}},
	{"a write before an own one is missing", MissedOwnWrite, func(r *run) {
		r.unliked()
		r.edited().Post.LikeCount = 0
		r.done(withToken(Operation{Kind: ReadPost, Account: "ann", PostID: "p_1", Post: version(2, "b", "text")}))
	}},
	{"a new post is not found", MissedOwnWrite, func(r *run) {
		r.posted()
		r.done(withToken(Operation{Kind: ReadPost, Account: "ann", PostID: "p_9"}))
	}},
	{"a post that was deleted is found", MissedOwnWrite, func(r *run) { r.deleted(); r.done(withToken(oldRead())) }},
	{"a comment lacks an edit", MissedOwnWrite, func(r *run) { r.commented(); r.done(withToken(comment1(ReadComment, "said"))) }},
	{"a removed like is shown to its user", MissedOwnWrite, func(r *run) { r.unliked(); r.done(withToken(liked("bob", true, 0))) }},
	{"a count has a like that its user removed", MissedOwnWrite, func(r *run) { r.unliked(); r.done(withToken(liked("bob", false, 1))) }},
	{"a viewer has a former name", MissedOwnWrite, func(r *run) { r.renamed(); r.done(withToken(nobody)) }},
	{"a feed lacks a new post of its client", MissedOwnWrite, func(r *run) {
		former := r.Feed
		r.posted()
		r.done(withToken(feed("ann", former...)))
	}},
	{"a full feed lacks a new post of its client", MissedOwnWrite, func(r *run) {
		r.posted()
		r.done(withToken(feed("ann", append(newer(FeedPage-1), r.Posts[0].Post)...)))
	}},
	{"a feed shows a post that its client deleted", MissedOwnWrite, func(r *run) { r.done(feed("ann", r.deleted()...)) }},
	{"a feed shows a post as it was before its client edited it", MissedOwnWrite, func(r *run) {
		former := slices.Clone(r.Feed)
		r.edited()
		r.done(feed("ann", former...))
	}},
	{"a feed counts a like that its client removed", MissedOwnWrite, func(r *run) {
		former := slices.Clone(r.Feed)
		r.unliked()
		r.done(feed("bob", former...))
	}},
	{"a feed shows posts of the deleted user of its client", MissedOwnWrite, func(r *run) {
		former := r.Feed
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "bob", User: &bob})
		r.done(feed("bob", former...))
		r.removeBob()
	}},
	{"a stale feed shows a former own name", FormerOwnName, func(r *run) { r.done(stale(withToken(feed("ann", r.renamed()...)))) }},
	{"a post shows a former own name", FormerOwnName, func(r *run) { r.renamed(); r.done(withToken(oldRead())) }},
	{"the answer to a like shows a former own name", FormerOwnName, func(r *run) {
		r.renamed()
		o := withToken(onPost(UnlikePost, "ann"))
		o.Post = version(1, "one", "text")
		r.done(o)
	}},
	{"a comment shows a former own name", FormerOwnName, func(r *run) {
		r.done(naming(UpdateUser, "bob", "Eve"))
		r.rename("u_bob", "Eve")
		r.done(comment1(ReadComment, "said"))
	}},
	{"a recent comment shows a former own name", FormerOwnName, func(r *run) {
		r.done(naming(UpdateUser, "bob", "Eve"))
		r.rename("u_bob", "Eve")
		p := *version(1, "one", "text")
		p.RecentComments = []RecentComment{{"c_1", "", bob}}
		r.done(stale(Operation{Kind: ReadPost, Account: "bob", PostID: "p_1", Post: &p}))
	}},
	{"a creation returns no session token", WrongAnswer, func(r *run) { r.Operations[2].GotSession = false }},
	{"a read returns a session token", WrongAnswer, func(r *run) { r.done(oldRead()).GotSession = true }},
	{"a read is rejected", Unjustified, func(r *run) { r.failed("BAD_USER_INPUT", oldRead()) }},
}

func TestFeedAnswers(t *testing.T) {
	r := newRun()
	r.done(elsewhere(feed("ann")))
	r.done(withToken(feed("ann", r.Feed...)))
	r.done(stale(feed("ann")))
	if covered, stale := FeedAnswers(&r.History); covered != 2 || stale != 1 {
		t.Errorf("%d feeds, %d of them stale; want 2 and 1", covered, stale)
	}
}
