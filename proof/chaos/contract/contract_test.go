package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// run builds a history in which each operation begins after the previous one ended, unless a test
// changes its times.
type run struct {
	History
	Snapshot
}

// step is the time between the beginnings of two operations. Each takes half of it.
const step = 10 * time.Millisecond

func (r *run) add(o Operation) *Operation {
	o.Invoked = time.Duration(len(r.Operations)+1) * step
	o.Completed = o.Invoked + step/2
	r.Operations = append(r.Operations, o)
	return &r.Operations[len(r.Operations)-1]
}

// done adds an acknowledged operation, failed a rejected one, and lost one of unknown outcome.
func (r *run) done(o Operation) *Operation {
	o.Outcome, o.GotSession = Acknowledged, !o.Kind.IsRead()
	return r.add(o)
}

func (r *run) failed(code string, o Operation) *Operation {
	o.Outcome, o.Code = Rejected, code
	o.User, o.Post, o.Comment = nil, nil, nil
	return r.add(o)
}

func (r *run) lost(o Operation) *Operation {
	o.User, o.Post, o.Comment = nil, nil, nil
	return r.add(o)
}

var (
	ann = User{ID: "u_ann", Username: "Ann"}
	bob = User{ID: "u_bob", Username: "bob"}
)

// date is the creation date of a post.
func date(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func naming(kind Kind, account, username string) Operation {
	return Operation{Kind: kind, Account: account, Username: username, User: &User{ID: "u_" + account, Username: username}}
}

// version returns an answer that shows a version of the first post.
func version(v int, title, content string) *Post {
	p := Post{ID: "p_1", Title: title, Content: content, Excerpt: content, Author: ann, Version: v, CreationDate: date(1),
		LikeCount: 1, CommentCount: 1}
	if v > 1 {
		updated := date(v)
		p.UpdatedDate = &updated
	}
	return &p
}

func edit(title string, based, v int) Operation {
	return Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: title, Version: based, Post: version(v, title, "text")}
}

func onPost(kind Kind, account string) Operation {
	return Operation{Kind: kind, Account: account, PostID: "p_1"}
}

func comment1(kind Kind, content string) Operation {
	return Operation{Kind: kind, Account: "bob", PostID: "p_1", CommentID: "c_1", Content: content,
		Comment: &Comment{ID: "c_1", Content: content, Author: bob}}
}

// newRun returns a run with two users, two posts, a comment and a like, and its snapshot.
func newRun() *run {
	r := &run{}
	r.done(naming(CreateUser, "ann", "Ann"))
	r.done(naming(CreateUser, "bob", "bob"))
	r.done(Operation{Kind: CreatePost, Account: "ann", Key: "k1", Title: "one", Content: "text", Post: counted(0, 0)})
	r.done(Operation{Kind: CreatePost, Account: "bob", Key: "k2", Title: "two", Content: "text 2",
		Post: &Post{ID: "p_2", Title: "two", Content: "text 2", Excerpt: "text 2", Author: bob, Version: 1, CreationDate: date(2)}})
	r.done(Operation{Kind: CreateComment, Account: "bob", Key: "k3", PostID: "p_1", Content: "said",
		Comment: &Comment{ID: "c_1", Content: "said", Author: bob}})
	r.done(onPost(LikePost, "bob"))
	r.Users = []User{{"u_ann", "Ann", 1}, {"u_bob", "bob", 1}}
	r.Names = map[string]string{"ann": "u_ann", "bob": "u_bob"}
	two := *r.Operations[3].Post
	one := *version(1, "one", "text")
	one.LikeCount, one.CommentCount = 1, 1
	r.Posts = []FinalPost{
		{Post: one, Comments: []Comment{{ID: "c_1", Content: "said", Author: bob}}, Likes: []User{bob}},
		{Post: two},
	}
	r.views()
	return r
}

// views makes the recent comments of posts equal to their comments, and the views of the snapshot
// equal to its posts.
func (r *run) views() {
	for i := range r.Posts {
		p := &r.Posts[i]
		p.RecentComments = nil
		for _, m := range p.Comments {
			p.RecentComments = append(p.RecentComments, RecentComment{m.ID, m.Excerpt, m.Author})
		}
	}
	r.Feed, r.Lists = nil, map[string][]Post{}
	for i := len(r.Posts) - 1; i >= 0; i-- {
		p := r.Posts[i].Post
		r.Feed = append(r.Feed, p)
		r.Lists[p.Author.ID] = append(r.Lists[p.Author.ID], p)
	}
	for i, u := range r.Users {
		r.Users[i].PostCount = len(r.Lists[u.ID])
	}
}

// end sets the last state of the first post.
func (r *run) end(v int, title, content string) {
	p := *version(v, title, content)
	p.CommentCount, p.LikeCount = r.Posts[0].CommentCount, r.Posts[0].LikeCount
	r.Posts[0].Post = p
	r.views()
}

// rename sets the last username of a user, everywhere.
func (r *run) rename(id, username string) {
	for name, bearer := range r.Names {
		if bearer == id {
			delete(r.Names, name)
		}
	}
	r.Names[normalized(username)] = id
	set := func(u *User) {
		if u.ID == id {
			u.Username = username
		}
	}
	for i := range r.Users {
		set(&r.Users[i])
	}
	for i := range r.Posts {
		p := &r.Posts[i]
		set(&p.Author)
		for j := range p.Comments {
			set(&p.Comments[j].Author)
		}
		for j := range p.Likes {
			set(&p.Likes[j])
		}
	}
	r.views()
}

// removeLike removes the only like from the snapshot.
func (r *run) removeLike() {
	r.Posts[0].Likes, r.Posts[0].LikeCount = nil, 0
	r.views()
}

// removeBob removes a user with everything that they wrote from the snapshot.
func (r *run) removeBob() {
	r.Users, r.Posts = r.Users[:1], r.Posts[:1]
	r.Posts[0].Comments, r.Posts[0].CommentCount = nil, 0
	delete(r.Names, "bob")
	r.removeLike()
}

func (r *run) violations() []Violation {
	return append(CheckOperations(&r.History), CheckSnapshot(&r.History, &r.Snapshot)...)
}

// valid are histories that keep the contract.
var valid = map[string]func(*run){
	"nothing more": func(*run) {},
	"edits with versions": func(r *run) {
		r.done(edit("b", 1, 2))
		r.failed("CONFLICT", edit("c", 1, 0))
		r.done(edit("d", 2, 3))
		r.end(3, "d", "text")
	},
	"an edit of unknown outcome was executed": func(r *run) {
		r.lost(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "b", Version: 1})
		r.failed("CONFLICT", Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "b", Version: 1})
		r.end(2, "b", "text")
	},
	"edits of unknown outcome were executed in the reverse order": func(r *run) {
		r.lost(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "b"})
		r.lost(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Content: "c"})
		r.done(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "d", Post: version(3, "d", "c")})
		r.end(4, "b", "c")
	},
	"an edit that changes nothing": func(r *run) {
		r.done(edit("b", 1, 2))
		r.done(edit("b", 0, 2))
		r.end(2, "b", "text")
	},
	"an edit that changes nothing shows a later content": func(r *run) {
		first := r.done(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Content: "c", Version: 1, Post: version(2, "one", "c")})
		second := r.done(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "one", Version: 1, Post: version(1, "one", "c")})
		second.Invoked, second.GotSession = first.Invoked, false
		r.end(2, "one", "c")
	},
	"a post whose only request has an unknown outcome": func(r *run) {
		r.lost(Operation{Kind: CreatePost, Account: "ann", Key: "k9", Title: "nine", Content: "text 9"})
		r.Posts = append(r.Posts, FinalPost{Post: Post{ID: "p_9", Title: "nine", Content: "text 9", Author: ann, Version: 1, CreationDate: date(9)}})
		r.views()
	},
	"likes and their removal": func(r *run) {
		r.done(onPost(UnlikePost, "bob"))
		r.lost(onPost(LikePost, "bob"))
	},
	"a rename": func(r *run) {
		r.done(naming(UpdateUser, "ann", "Eve"))
		r.rename("u_ann", "Eve")
	},
	"a username that was freed": func(r *run) {
		r.done(naming(UpdateUser, "ann", "Eve"))
		r.done(naming(UpdateUser, "bob", "ann"))
		r.rename("u_ann", "Eve")
		r.rename("u_bob", "ann")
	},
	"concurrent renames of one account": func(r *run) {
		first := r.done(naming(UpdateUser, "ann", "Eve"))
		second := r.done(naming(UpdateUser, "ann", "Amy"))
		second.Invoked = first.Invoked
		r.rename("u_ann", "Eve")
	},
	"a user who was deleted": func(r *run) {
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "BOB", User: &bob})
		r.failed("DELETION_UNDER_WAY", naming(CreateUser, "bob", "bob"))
		r.removeBob()
	},
	"a user who returned": func(r *run) {
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "bob", User: &bob})
		r.done(naming(CreateUser, "bob", "bob"))
		r.done(onPost(LikePost, "bob"))
		r.removeBob()
		r.Users = append(r.Users, bob)
		r.Names["bob"] = "u_bob"
		r.Posts[0].Likes, r.Posts[0].LikeCount = []User{bob}, 1
		r.views()
	},
	"comments": func(r *run) {
		r.done(comment1(UpdateComment, "said more"))
		r.lost(comment1(UpdateComment, "said less"))
		r.Posts[0].Comments[0].Content = "said more"
	},
	"a deleted post": func(r *run) {
		r.done(onPost(DeletePost, "ann"))
		r.failed("NOT_FOUND", onPost(LikePost, "bob"))
		r.done(onPost(ReadPost, "bob"))
		r.Posts = r.Posts[1:]
		r.views()
	},
	"a username stays taken after an interrupted rename": func(r *run) {
		r.lost(naming(UpdateUser, "ann", "Eve"))
		r.done(naming(UpdateUser, "ann", "Eve"))
		r.failed("USERNAME_TAKEN", naming(UpdateUser, "bob", "ann"))
		r.rename("u_ann", "Eve")
	},
	"the answer to a like shows a later content": func(r *run) {
		first := r.done(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Content: "c", Post: version(2, "one", "c")})
		like := onPost(LikePost, "bob")
		like.Post = version(1, "one", "c")
		r.done(like).Invoked = first.Invoked
		r.end(2, "one", "c")
	},
	"the answer to a like shows the content from before an edit of the title": func(r *run) {
		r.lost(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "b"})
		like := onPost(LikePost, "bob")
		like.Post = version(2, "b", "text")
		r.done(like)
		r.end(2, "b", "text")
	},
	"a read from a lagging replica": func(r *run) {
		r.Lag = time.Second
		r.done(edit("b", 1, 2))
		r.done(Operation{Kind: ReadPost, Account: "bob", PostID: "p_1", Post: version(1, "one", "text")})
		r.end(2, "b", "text")
	},
}

func TestValidHistories(t *testing.T) {
	for _, histories := range []map[string]func(*run){valid, validSessions} {
		for name, change := range histories {
			t.Run(name, func(t *testing.T) {
				r := newRun()
				change(r)
				for _, v := range r.violations() {
					t.Error(v)
				}
			})
		}
	}
}

// plantedViolation is a history with a violation. The rule is what the checker must name.
type plantedViolation struct {
	name   string
	rule   Rule
	change func(*run)
}

// planted are histories with a violation of each kind.
var planted = []plantedViolation{
	{"an acknowledged post is missing", LostWrite, func(r *run) { r.Posts = r.Posts[:1]; r.views() }},
	{"an acknowledged comment is missing", LostWrite, func(r *run) {
		r.Posts[0].Comments, r.Posts[0].CommentCount = nil, 0
		r.views()
	}},
	{"an acknowledged like is missing", LostWrite, (*run).removeLike},
	{"an acknowledged edit is missing", LostWrite, func(r *run) { r.done(edit("b", 1, 2)) }},
	{"an edit back was not executed", LostWrite, func(r *run) {
		r.done(edit("b", 0, 2))
		r.done(edit("one", 0, 3))
		r.end(2, "b", "text")
	}},
	{"two edits of the same version", LostUpdate, func(r *run) {
		r.done(edit("b", 1, 2))
		r.done(edit("c", 1, 2))
		r.end(2, "c", "text")
	}},
	{"two equal edits of the same version", LostUpdate, func(r *run) {
		first := r.done(edit("b", 1, 2))
		second := r.done(edit("b", 1, 2))
		second.Invoked = first.Invoked
		r.end(2, "b", "text")
	}},
	{"an edit overwrites another that it did not see", LostUpdate, func(r *run) {
		r.done(edit("b", 1, 2))
		r.done(edit("c", 1, 3))
		r.end(3, "c", "text")
	}},
	{"versions go back", StaleAnswer, func(r *run) {
		r.done(edit("b", 0, 3))
		r.done(edit("c", 0, 2))
		r.end(3, "b", "text")
	}},
	{"more versions than edits", LostUpdate, func(r *run) {
		r.done(edit("b", 1, 2))
		r.end(4, "b", "text")
	}},
	{"an edit of unknown outcome counts twice", LostUpdate, func(r *run) {
		r.lost(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "b"})
		r.end(3, "b", "text")
	}},
	{"an edit is there before it was requested", LostUpdate, func(r *run) {
		r.done(Operation{Kind: ReadPost, Account: "bob", PostID: "p_1", Post: version(2, "b", "text")})
		r.lost(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "b"})
		r.end(2, "b", "text")
	}},
	{"a rejected edit is there", RejectedWrite, func(r *run) {
		r.done(edit("b", 1, 2))
		r.failed("CONFLICT", Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "c", Version: 1})
		r.end(3, "c", "text")
	}},
	{"a conflict without another edit", Unjustified, func(r *run) {
		r.failed("CONFLICT", Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "c", Version: 1})
	}},
	{"a conflict with the version just acknowledged", Unjustified, func(r *run) {
		r.done(edit("b", 1, 2))
		r.failed("CONFLICT", Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Title: "c", Version: 2})
		r.end(2, "b", "text")
	}},
	{"the answer to a like shows an earlier content", StaleAnswer, func(r *run) {
		r.done(Operation{Kind: UpdatePost, Account: "ann", PostID: "p_1", Content: "c", Post: version(2, "one", "c")})
		like := onPost(LikePost, "bob")
		like.Post = version(2, "one", "text")
		r.done(like)
		r.end(2, "one", "c")
	}},
	{"an edit answers with an older text", WrongAnswer, func(r *run) {
		o := edit("b", 1, 2)
		o.Post = version(1, "one", "text")
		r.done(o)
	}},
	{"a rejected post is there", RejectedWrite, func(r *run) {
		r.failed("THROTTLED", Operation{Kind: CreatePost, Account: "ann", Key: "k9", Title: "nine", Content: "text 9"})
		r.Posts = append(r.Posts, FinalPost{Post: Post{ID: "p_9", Title: "nine", Content: "text 9", Author: ann, Version: 1, CreationDate: date(9)}})
		r.views()
	}},
	{"an idempotency key made two posts", CreatedTwice, func(r *run) {
		r.Posts = append(r.Posts, FinalPost{Post: Post{ID: "p_9", Title: "one", Content: "text", Author: ann, Version: 1, CreationDate: date(9)}})
		r.views()
	}},
	{"a retry returned another post", CreatedTwice, func(r *run) {
		other := *version(1, "one", "text")
		other.ID = "p_9"
		r.done(Operation{Kind: CreatePost, Account: "ann", Key: "k1", Title: "one", Content: "text", Post: &other})
	}},
	{"a deleted post is there", Resurrected, func(r *run) { r.done(onPost(DeletePost, "ann")) }},
	{"a deleted post is found", StaleAnswer, func(r *run) {
		r.done(onPost(DeletePost, "ann"))
		r.done(Operation{Kind: ReadPost, Account: "bob", PostID: "p_1", Post: version(1, "one", "text")})
		r.Posts = r.Posts[1:]
		r.views()
	}},
	{"a deleted post is liked", WriteToDeleted, func(r *run) {
		r.done(onPost(DeletePost, "ann"))
		r.done(onPost(LikePost, "bob"))
		r.Posts = r.Posts[1:]
		r.views()
	}},
	{"an existing post is not found", Unjustified, func(r *run) { r.failed("NOT_FOUND", onPost(LikePost, "bob")) }},
	{"an existing post is not read", LostWrite, func(r *run) { r.done(onPost(ReadPost, "bob")) }},
	{"a removed like is there", Resurrected, func(r *run) { r.done(onPost(UnlikePost, "bob")) }},
	{"a like that nobody requested", RejectedWrite, func(r *run) {
		r.Posts[0].Likes, r.Posts[0].LikeCount = append(r.Posts[0].Likes, ann), 2
		r.views()
	}},
	{"a user likes a post twice", DoubleLike, func(r *run) {
		r.Posts[0].Likes, r.Posts[0].LikeCount = append(r.Posts[0].Likes, bob), 2
		r.views()
	}},
	{"a like of an earlier life is there", Resurrected, func(r *run) {
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "bob", User: &bob})
		r.done(naming(CreateUser, "bob", "bob"))
		r.removeBob()
		r.Users = append(r.Users, bob)
		r.Names["bob"] = "u_bob"
		r.Posts[0].Likes, r.Posts[0].LikeCount = []User{bob}, 1
		r.views()
	}},
	{"a like is denied to its user", StaleAnswer, func(r *run) {
		no := false
		r.done(Operation{Kind: ReadPost, Account: "bob", PostID: "p_1", Post: counted(1, 1), Liked: &no})
	}},
	{"a count differs from its list", WrongCount, func(r *run) { r.Posts[0].LikeCount = 2; r.views() }},
	{"a count in an answer is too small", WrongCount, func(r *run) {
		r.done(Operation{Kind: ReadPost, Account: "ann", PostID: "p_1", Post: counted(0, 1)})
	}},
	{"a count in an answer is too great", WrongCount, func(r *run) {
		r.done(Operation{Kind: ReadPost, Account: "ann", PostID: "p_1", Post: counted(1, 2)})
	}},
	{"a post count differs from the list", WrongCount, func(r *run) { r.Users[0].PostCount = 2 }},
	{"a comment's edit is lost", WrongValue, func(r *run) { r.done(comment1(UpdateComment, "said more")) }},
	{"a comment has a text that was rejected", RejectedWrite, func(r *run) {
		r.failed("THROTTLED", comment1(UpdateComment, "said more"))
		r.Posts[0].Comments[0].Content = "said more"
	}},
	{"an overwritten text is read", StaleAnswer, func(r *run) {
		r.done(comment1(UpdateComment, "said more"))
		r.done(comment1(ReadComment, "said"))
		r.Posts[0].Comments[0].Content = "said more"
	}},
	{"a text is read, and then an older one", StaleAnswer, func(r *run) {
		r.lost(comment1(UpdateComment, "said more"))
		r.done(comment1(ReadComment, "said more"))
		r.done(comment1(ReadComment, "said"))
		r.Posts[0].Comments[0].Content = "said more"
	}},
	{"a deleted comment is there", Resurrected, func(r *run) { r.done(comment1(DeleteComment, "")) }},
	{"someone else's post is edited", Forbidden, func(r *run) {
		o := edit("b", 1, 2)
		o.Account = "bob"
		r.done(o)
		r.end(2, "b", "text")
	}},
	{"two users have one username", DuplicateUsername, func(r *run) {
		r.Users[1].Username = "ANN"
		r.done(naming(UpdateUser, "bob", "ANN"))
	}},
	{"two users had one username for a while", DuplicateUsername, func(r *run) {
		r.done(naming(UpdateUser, "bob", "ann"))
		r.done(naming(UpdateUser, "ann", "Eve"))
		r.rename("u_ann", "Eve")
		r.rename("u_bob", "ann")
	}},
	{"an acknowledged rename is lost", WrongValue, func(r *run) { r.done(naming(UpdateUser, "ann", "Eve")) }},
	{"a rename back was not executed", WrongValue, func(r *run) {
		r.done(naming(UpdateUser, "ann", "Eve"))
		r.done(naming(UpdateUser, "ann", "Ann"))
		r.rename("u_ann", "Eve")
	}},
	{"a rejected rename was executed", RejectedWrite, func(r *run) {
		r.failed("TRY_AGAIN", naming(UpdateUser, "ann", "Eve"))
		r.rename("u_ann", "Eve")
	}},
	{"a user keeps a former username in a comment", StaleUsername, func(r *run) {
		r.done(naming(UpdateUser, "bob", "Eve"))
		r.rename("u_bob", "Eve")
		r.Posts[0].Comments[0].Author.Username = "bob"
	}},
	{"a former username still finds the user", StaleUsername, func(r *run) {
		r.done(naming(UpdateUser, "bob", "Eve"))
		r.rename("u_bob", "Eve")
		r.Names["bob"] = "u_bob"
	}},
	{"a username that nobody has is taken", Unjustified, func(r *run) {
		r.failed("USERNAME_TAKEN", naming(UpdateUser, "ann", "Eve"))
	}},
	{"a username stays taken long after an interrupted rename", Unjustified, func(r *run) {
		r.lost(naming(UpdateUser, "ann", "Eve"))
		r.done(naming(UpdateUser, "ann", "Eve"))
		late := r.failed("USERNAME_TAKEN", naming(UpdateUser, "bob", "ann"))
		late.Invoked += 11 * time.Second
		late.Completed += 11 * time.Second
		r.rename("u_ann", "Eve")
	}},
	{"a user is denied", Unjustified, func(r *run) { r.failed("USER_REQUIRED", onPost(LikePost, "bob")) }},
	{"a deletion that nobody requested is under way", Unjustified, func(r *run) {
		r.failed("DELETION_UNDER_WAY", onPost(LikePost, "bob"))
	}},
	{"a code that the request cannot have", Unjustified, func(r *run) {
		r.failed("IDEMPOTENCY_KEY_REUSED", onPost(LikePost, "bob"))
	}},
	{"a deleted user is there", Resurrected, func(r *run) {
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "bob", User: &bob})
	}},
	{"a user disappears", WrongValue, func(r *run) { r.removeBob() }},
	{"a comment of a deleted user is there", LeftOver, func(r *run) {
		r.done(Operation{Kind: DeleteUser, Account: "bob", Username: "bob", User: &bob})
		r.removeBob()
		r.Posts[0].Comments, r.Posts[0].CommentCount = []Comment{{ID: "c_1", Content: "said", Author: bob}}, 1
		r.views()
	}},
	{"a post shows no comments", WrongView, func(r *run) { r.Posts[0].RecentComments = nil }},
	{"a post shows a comment with another name", WrongView, func(r *run) {
		r.Posts[0].RecentComments[0].Author.Username = "former"
		r.Feed[1].RecentComments = r.Posts[0].RecentComments
	}},
	{"the feed shows a post without its comments", WrongView, func(r *run) { r.Feed[1].RecentComments = nil }},
	{"the feed misses a post", WrongView, func(r *run) { r.Feed = r.Feed[:1] }},
	{"the feed has an old title", WrongView, func(r *run) {
		r.done(edit("b", 1, 2))
		r.end(2, "b", "text")
		r.Feed[1].Title = "one"
	}},
	{"the feed is in another order", WrongView, func(r *run) { r.Feed[0], r.Feed[1] = r.Feed[1], r.Feed[0] }},
	{"a feed in an answer is in another order", WrongView, func(r *run) {
		r.done(Operation{Kind: ReadFeed, Account: "ann", Feed: []Post{r.Posts[0].Post, r.Posts[1].Post}})
	}},
	{"a list has a surplus post", WrongView, func(r *run) { r.Lists["u_ann"] = append(r.Lists["u_ann"], r.Posts[0].Post) }},
}

// counted returns an answer that shows the counts of the first post.
func counted(likes, comments int) *Post {
	p := version(1, "one", "text")
	p.LikeCount, p.CommentCount = likes, comments
	return p
}

func TestPlantedViolations(t *testing.T) {
	rules := map[Rule]bool{}
	for _, p := range slices.Concat(planted, plantedSessions) {
		rules[p.rule] = true
		t.Run(p.name, func(t *testing.T) {
			r := newRun()
			p.change(r)
			var all []string
			for _, v := range r.violations() {
				if v.Rule == p.rule {
					return
				}
				all = append(all, v.String())
			}
			t.Errorf("the checker did not name %q; it returned %d others:\n%s", p.rule, len(all), strings.Join(all, "\n"))
		})
	}
	for _, rule := range []Rule{LostWrite, LostUpdate, RejectedWrite, CreatedTwice, Resurrected, WriteToDeleted, WrongValue,
		WrongAnswer, StaleAnswer, MissedOwnWrite, FormerOwnName, Unjustified, Forbidden, DuplicateUsername, StaleUsername, DoubleLike, WrongCount, WrongView, LeftOver} {
		if !rules[rule] {
			t.Errorf("no history violates %q", rule)
		}
	}
}

func TestOutcomes(t *testing.T) {
	for code, want := range map[string]Outcome{"TIMEOUT": Unknown, "INTERNAL": Unknown, "UNAVAILABLE": Unknown, "CONFLICT": Rejected, "THROTTLED": Rejected} {
		if got := OutcomeOf(code); got != want {
			t.Errorf("OutcomeOf(%q) = %v, want %v", code, got, want)
		}
	}
}

func ExampleViolation() {
	fmt.Println(Violation{LostWrite, "p_1 is missing"})
	// Output: lost write: p_1 is missing
}
