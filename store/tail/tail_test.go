package tail_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/tail"
)

// world is an account with two servers: one with a tail, and another that writes. It lives in a
// bubble of synctest.
type world struct {
	*testing.T
	account *cosmostest.Account
	wire    *cosmostest.Transport // of the server with the tail
	own     *storetest.Database   // with the tail
	other   *storetest.Database
	tail    *tail.Tail
	cache   *readcache.Cache
	reader  *store.Store // of own, with the tail and the cache
	ada     *blog.User
}

const staleness = time.Second

// etagsOfShownChanges is the option of the accounts of inWorld.
var etagsOfShownChanges bool

// TestEtagsOfShownChanges runs tests under both behaviours of the etag of a page of a change feed:
// see store/changefeed.
func TestEtagsOfShownChanges(t *testing.T) {
	etagsOfShownChanges = true
	t.Cleanup(func() { etagsOfShownChanges = false })
	for name, test := range map[string]func(*testing.T){
		"age": TestKeptReadsAreNotTooOld, "others": TestChangesOfOthersAreCounted, "splits": TestTailAcrossSplits,
		"reads": TestReadsFollowTheTail, "passed": TestPassedNeedsAllFeeds, "unreachable": TestUnreachableTokens,
		"passed after a split": TestPassedAfterSplit, "merge": TestTailAcrossMerge,
	} {
		t.Run(name, test)
	}
}

func inWorld(t *testing.T, options cosmostest.Options, test func(w *world)) {
	inWorldOf(t, 1, options, test)
}

// inWorldOf is inWorld for containers with a number of feed ranges.
func inWorldOf(t *testing.T, ranges int, options cosmostest.Options, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		options.EtagsOfShownChanges = etagsOfShownChanges
		account := cosmostest.New(t, options)
		w := &world{T: t, account: account, wire: account.NewTransport()}
		w.other = w.open(storetest.Divided(account.Latest(), ranges))
		w.own = w.open(w.wire)
		w.tail = tail.New(tail.Options{
			DB: w.own.DB, Containers: []string{schema.Users, schema.Posts, schema.Feed}, Staleness: staleness,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		w.cache = readcache.New(1<<20, w.tail.Changes)
		w.reader = store.NewCached(w.own.DB, w.cache, w.tail)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = w.tail.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		var err error
		w.ada, err = w.other.CreateUser(t.Context(), storetest.Account("ada"), "Ada")
		w.ok(err)
		test(w)
	})
}

func (w *world) open(transport policy.Transporter) *storetest.Database {
	db, err := provision.OpenEmbedded(w.Context(), w.account, cosmos.Options{Transport: transport})
	w.ok(err)
	w.Cleanup(db.Close)
	return storetest.Open(db)
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) post() *blog.Post {
	w.Helper()
	post, err := w.other.CreatePost(w.Context(), w.ada, blog.CreatePostInput{Title: "A title", Content: "Some content."})
	w.ok(err)
	return post
}

// names says whether a read names a partition key, in its header or in its query.
func (w *world) names(request *http.Request, key string) bool {
	if strings.Contains(request.Header.Get("X-Ms-Documentdb-Partitionkey"), key) {
		return true
	}
	if request.Body == nil {
		return false
	}
	body, err := request.GetBody()
	w.ok(err)
	query, err := io.ReadAll(body)
	w.ok(err)
	return strings.Contains(string(query), key)
}

// after lets time pass, during which the tail polls.
func (w *world) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// isCurrent reports whether two calls of Changes agree, so that what was kept at the first may be
// used at the second.
func (w *world) isCurrent(container, partition string) bool {
	return w.tail.Changes(container, partition) == w.tail.Changes(container, partition)
}

// awake calls Changes, so that the tail follows the container, and waits until it does.
func (w *world) awake(container string) {
	w.Helper()
	w.tail.Changes(container, "")
	if w.after(staleness / 2); !w.isCurrent(container, "") {
		w.Fatalf("%s is not followed", container)
	}
}

// Nothing kept is used before the first poll. After it, what is kept is used until its partition
// changes, and then no more.
func TestChangesOfOthersAreCounted(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post, another := w.post(), w.post()
		w.wire.Inject(storetest.CutBefore) // the first poll, which the first call of Changes begins
		if w.isCurrent(schema.Posts, post.ID) {
			t.Error("a count was kept before anything was known")
		}
		synctest.Wait()
		w.wire.Inject(nil)
		w.after(staleness) // the next poll
		w.awake(schema.Posts)
		before, beside := w.tail.Changes(schema.Posts, post.ID), w.tail.Changes(schema.Posts, another.ID)
		for range 5 {
			if w.after(staleness); w.tail.Changes(schema.Posts, post.ID) != before {
				t.Error("the count of an unchanged partition changed")
			}
		}
		_, err := w.other.LikePost(w.Context(), w.ada, post.ID)
		w.ok(err)
		w.after(staleness / 2)
		if w.tail.Changes(schema.Posts, post.ID) == before {
			t.Error("the like of another server was not counted")
		}
		if w.tail.Changes(schema.Posts, another.ID) != beside {
			t.Error("the like was counted for another post")
		}
	})
}

// A write of this process counts at once, also if its answer is lost.
func TestOwnWritesAreCountedAtOnce(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post := w.post()
		w.awake(schema.Posts)
		for name, fault := range map[string]cosmostest.Fault{
			"answered": nil, "answer lost": storetest.CutAfter, "not sent": storetest.CutBefore,
		} {
			before := w.tail.Changes(schema.Posts, post.ID)
			if fault != nil {
				w.wire.Inject(cosmostest.Writes(fault))
			}
			_, _ = w.own.CreateComment(w.Context(), w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
			if w.tail.Changes(schema.Posts, post.ID) == before {
				t.Errorf("%s: the write was not counted", name)
			}
			w.wire.Inject(nil)
		}
	})
}

// If the account is away or throttles, nothing kept is used past the bound. When it is back, the
// tail knows what happened meanwhile.
func TestLateTail(t *testing.T) {
	faults := map[string]cosmostest.Fault{
		"away":      storetest.CutBefore,
		"throttled": cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 5000"),
		"silent":    cosmostest.Silence,
		"failing":   cosmostest.Refuse(http.StatusInternalServerError),
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inWorld(t, cosmostest.Options{}, func(w *world) {
				post := w.post()
				w.awake(schema.Posts)
				before, signals := w.tail.Changes(schema.Posts, post.ID), w.tail.Signals(schema.Posts, post.ID)
				w.wire.Inject(fault)
				if w.after(staleness / 2); !w.isCurrent(schema.Posts, post.ID) {
					t.Error("the tail is late before the bound")
				}
				for range 12 { // it is read all the time
					if w.after(staleness); w.isCurrent(schema.Posts, post.ID) {
						t.Fatal("a count was kept past the bound")
					}
				}
				if w.tail.Signals(schema.Posts, post.ID) != w.tail.Signals(schema.Posts, post.ID) {
					t.Error("streams are told of changes all the time while the tail is late")
				}
				_, err := w.other.LikePost(w.Context(), w.ada, post.ID)
				w.ok(err)
				w.wire.Inject(nil)
				for range 60 {
					w.after(staleness)
					w.tail.Changes(schema.Posts, post.ID)
				}
				if !w.isCurrent(schema.Posts, post.ID) || w.tail.Changes(schema.Posts, post.ID) == before {
					t.Error("after a minute, the tail did not recover, or missed the like")
				}
				if w.tail.Signals(schema.Posts, post.ID) == signals {
					t.Error("streams were not told of the like")
				}
			})
		})
	}
}

// The tail goes on through splits.
func TestTailAcrossSplits(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		posts := []*blog.Post{w.post(), w.post(), w.post(), w.post()}
		w.awake(schema.Posts)
		for split := range 3 {
			counts := make([]uint64, len(posts))
			for i, post := range posts {
				counts[i] = w.tail.Changes(schema.Posts, post.ID)
			}
			w.ok(w.account.Split(cosmos.DefaultDatabase, schema.Posts, fmt.Sprint(2*split)))
			for _, post := range posts {
				_, err := w.other.CreateComment(w.Context(), w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
				w.ok(err)
			}
			w.after(staleness)
			for i, post := range posts {
				if w.tail.Changes(schema.Posts, post.ID) == counts[i] {
					t.Errorf("after split %d, a comment was not counted", split+1)
				}
				if !w.isCurrent(schema.Posts, post.ID) {
					t.Errorf("after split %d, the tail is late", split+1)
				}
			}
		}
	})
}

// TestTailAcrossMerge merges the parts of a range that was split. No change is missed, and within a
// minute, the merged range is read once for each poll.
func TestTailAcrossMerge(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		posts := []*blog.Post{w.post(), w.post(), w.post(), w.post()}
		comment := func() {
			counts := make([]uint64, len(posts))
			for i, post := range posts {
				counts[i] = w.tail.Changes(schema.Posts, post.ID)
			}
			for _, post := range posts {
				_, err := w.other.CreateComment(w.Context(), w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
				w.ok(err)
			}
			w.after(staleness)
			for i, post := range posts {
				if w.tail.Changes(schema.Posts, post.ID) == counts[i] {
					t.Error("a comment was not counted")
				}
			}
		}
		polls := func() int {
			w.wire.Inject(nil) // forgets the requests so far
			for range 5 {
				w.after(staleness)
				w.tail.Changes(schema.Posts, posts[0].ID)
			}
			return len(w.wire.Requests())
		}
		w.awake(schema.Posts)
		comment()
		before := polls()
		w.ok(w.account.Split(cosmos.DefaultDatabase, schema.Posts, "0"))
		comment()
		if n := polls(); n < 2*before-2 {
			t.Errorf("%d requests in the time of %d before the split", n, before)
		}
		w.ok(w.account.MergeRanges(cosmos.DefaultDatabase, schema.Posts, "1"))
		comment()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			polls() // until the ranges are read again
		}
		if n := polls(); n > before+1 {
			t.Errorf("after the merge, %d requests in the time of %d before the split", n, before)
		}
		comment()
	})
}

// A container that is created again has new partitions, whose former counts are no longer valid.
func TestRecreatedContainer(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post := w.post()
		w.awake(schema.Posts)
		before := w.tail.Changes(schema.Posts, post.ID)
		_, err := w.other.DB.Container(schema.Posts).Delete(w.Context(), nil)
		w.ok(err)
		w.open(w.account.NewTransport()) // creates what is missing
		for range 20 {
			w.after(staleness)
			w.tail.Changes(schema.Posts, post.ID)
		}
		if !w.isCurrent(schema.Posts, post.ID) || w.tail.Changes(schema.Posts, post.ID) == before {
			t.Error("the tail did not begin anew")
		}
		again := w.post()
		count := w.tail.Changes(schema.Posts, again.ID)
		_, err = w.other.LikePost(w.Context(), w.ada, again.ID)
		w.ok(err)
		if w.after(staleness / 2); w.tail.Changes(schema.Posts, again.ID) == count {
			t.Error("a like in the new container was not counted")
		}
	})
}

// A container that nobody reads costs nothing. The next read finds nothing kept, and wakes the
// tail.
func TestTailRests(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post := w.post()
		w.awake(schema.Posts)
		before := w.tail.Changes(schema.Posts, post.ID)
		w.after(time.Minute)
		w.wire.Inject(nil)
		w.after(time.Hour)
		if n := len(w.wire.Requests()); n > 0 {
			t.Errorf("%d requests while nobody reads", n)
		}
		if _, ok := w.tail.Lag(schema.Posts); ok {
			t.Error("a container that rests has a lag")
		}
		if w.isCurrent(schema.Posts, post.ID) || w.tail.Changes(schema.Posts, post.ID) == before {
			t.Error("what was kept an hour ago is used")
		}
		w.awake(schema.Posts)
		if w.tail.Changes(schema.Posts, post.ID) == before {
			t.Error("what was kept an hour ago is used again")
		}
	})
}

// Reads after a change was counted are not answered by a replica that lacks it.
func TestReadsFollowTheTail(t *testing.T) {
	inWorld(t, cosmostest.Options{Follower: true}, func(w *world) {
		post := w.post()
		w.awake(schema.Posts)
		w.account.Follower.Hold()
		_, err := w.other.LikePost(w.Context(), w.ada, post.ID)
		w.ok(err)
		w.account.Follower.CatchUp() // the replica that the tail reads has the like
		w.after(staleness / 2)
		w.account.Follower.Lag(0)

		likes := func(ctx context.Context) int {
			read, err := w.own.Post(ctx, post.ID)
			w.ok(err)
			return read.LikeCount
		}
		session := cosmos.WithSession(w.Context())
		w.tail.Join(session, schema.Posts)
		if n := likes(session); n != 1 {
			t.Errorf("%d likes after the tail counted one", n)
		}
		if token := cosmos.SessionTokenOf(session, schema.Posts); !w.tail.Passed(schema.Posts, token) {
			t.Error("the tail has not passed what it polled")
		}
		token := cosmos.SessionTokenOf(session, schema.Posts)
		_, err = w.other.CreateComment(session, w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
		w.ok(err)
		newer := cosmos.SessionTokenOf(session, schema.Posts)
		if newer == token || w.tail.Passed(schema.Posts, newer) {
			t.Error("the tail has passed a write that it did not see")
		}
		if w.after(staleness / 2); !w.tail.Passed(schema.Posts, newer) {
			t.Error("the tail has not passed a write after its next poll")
		}
	})
}

// A kept result has the state of its own answer, also if the session that read it had seen a later
// one by then: another read of the session is answered after the edit of a post whose answer is on
// its way.
func TestStateOfKeptReads(t *testing.T) {
	for name, read := range map[string]func(w *world, ctx context.Context, post *blog.Post) *blog.Post{
		"one post": func(w *world, ctx context.Context, post *blog.Post) *blog.Post {
			read, err := w.reader.Post(ctx, post.ID)
			w.ok(err)
			return read
		},
		"several posts": func(w *world, ctx context.Context, post *blog.Post) *blog.Post {
			read, err := w.reader.Posts(ctx, []string{post.ID, "p_missing"})
			w.ok(err)
			return read[post.ID]
		},
		"a list": func(w *world, ctx context.Context, post *blog.Post) *blog.Post {
			page, err := w.reader.Comments(ctx, post.ID, blog.PageRequest{First: 5})
			w.ok(err)
			return &blog.Post{CommentCount: len(page.Items)}
		},
	} {
		for _, ranges := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d ranges", name, ranges), func(t *testing.T) {
				inWorldOf(t, ranges, cosmostest.Options{}, func(w *world) {
					post := w.post()
					w.awake(schema.Posts)
					stranger, ada := cosmos.WithSession(w.Context()), cosmos.WithSession(w.Context())
					var isEdited atomic.Bool
					w.wire.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
						answer, err := next.Do(request)
						// Posts are read at once: the edit follows the answer of the post's partition.
						if target, _ := cosmos.TargetOf(request); target.Container == schema.Posts && target.Operation != "changeFeed" &&
							w.names(request, post.ID) && isEdited.CompareAndSwap(false, true) {
							_, err := w.other.CreateComment(ada, w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
							w.ok(err)
							_, err = w.reader.Likes(stranger, post.ID, blog.PageRequest{First: 5})
							w.ok(err)
						}
						return answer, err
					})
					if got := read(w, stranger, post); got.CommentCount != 0 {
						t.Fatalf("the stranger reads %d comments", got.CommentCount)
					}
					claims := cosmos.WithSession(w.Context())
					cosmos.ClaimSession(claims, cosmos.WrittenInSession(ada))
					if got := read(w, claims, post); got.CommentCount != 1 {
						t.Errorf("Ada reads %d comments", got.CommentCount)
					}
					before := w.cache.Stats().Hits
					if got := read(w, claims, post); got.CommentCount != 1 || w.cache.Stats().Hits == before {
						t.Errorf("she reads %d comments again, %d times from the cache", got.CommentCount, w.cache.Stats().Hits-before)
					}
				})
			})
		}
	}
}

// A range has not passed a write of this process as long as the range itself is not polled to its
// end, even if all others are.
func TestPassedNeedsAllFeeds(t *testing.T) {
	inWorldOf(t, 4, cosmostest.Options{}, func(w *world) {
		post := w.post()
		w.awake(schema.Posts)
		session := cosmos.WithSession(w.Context())
		_, err := w.own.CreateComment(session, w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
		w.ok(err)
		token := cosmos.SessionTokenOf(session, schema.Posts)
		rangeID, _, _ := strings.Cut(token, ":")
		w.wire.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			if id := request.Header.Get("X-Ms-Documentdb-Partitionkeyrangeid"); strings.HasSuffix(id, rangeID) && request.Method == http.MethodGet {
				return storetest.CutBefore(n, request, next)
			}
			return next.Do(request)
		})
		if w.after(staleness); w.tail.Passed(schema.Posts, token) {
			t.Error("a range that is not read has passed our write")
		}
		w.wire.Inject(nil)
		if w.after(staleness); !w.tail.Passed(schema.Posts, token) {
			t.Error("the range has not passed our write after it was read")
		}
	})
}

// If the account has lost the states that the session tokens name, reads fail only for a moment.
func TestUnreachableTokens(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post := w.post()
		w.awake(schema.Posts)
		lost := func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			if request.Header.Get(cosmos.SessionTokenHeader) == "" {
				return next.Do(request)
			}
			return cosmostest.Refuse(http.StatusNotFound, "x-ms-substatus: 1002")(n, request, next)
		}
		w.wire.Inject(lost)
		read := func() error {
			w.tail.Changes(schema.Posts, post.ID)
			session := cosmos.WithSession(w.Context())
			w.tail.Join(session, schema.Posts)
			_, err := w.own.Post(session, post.ID)
			return err
		}
		if read() == nil {
			t.Error("the token is not sent")
		}
		w.after(3 * staleness)
		if err := read(); err != nil {
			t.Errorf("after three seconds: %v", err)
		}
	})
}

// The polls' charge is reported.
func TestChargeOfTheTail(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		w.awake(schema.Posts)
		w.wire.Inject(nil)
		before := w.tail.Charge()
		for range 5 {
			w.after(staleness)
			w.tail.Changes(schema.Posts, "")
		}
		polls := float64(len(w.wire.Requests()))
		if charged := w.tail.Charge() - before; polls < 15 || polls > 25 || charged < polls-1 || charged > polls+1 {
			t.Errorf("%.2f RU for %.0f polls in five seconds", charged, polls)
		}
	})
}

// After a split, a write of another server is passed only once a poll has counted it. In the first
// poll, the position of the range that was split is not known. The numbers of the other range,
// which are greater, say nothing about it.
func TestPassedAfterSplit(t *testing.T) {
	inWorldOf(t, 2, cosmostest.Options{}, func(w *world) {
		comment := func(post *blog.Post) (token string) {
			session := cosmos.WithSession(w.Context())
			_, err := w.other.CreateComment(session, w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
			w.ok(err)
			return cosmos.SessionTokenOf(session, schema.Posts)
		}
		var split, other []*blog.Post // by their range
		for len(split) < 4 || len(other) < 1 {
			if post := w.post(); strings.HasPrefix(comment(post), "0:") {
				split = append(split, post)
			} else {
				other = append(other, post)
			}
		}
		for range 200 {
			comment(other[0])
		}
		w.awake(schema.Posts)
		w.after(staleness)
		w.ok(w.account.Split(cosmos.DefaultDatabase, schema.Posts, "0"))
		for i := range 100 {
			w.tail.Changes(schema.Posts, split[0].ID)
			if token := comment(split[i%len(split)]); w.tail.Passed(schema.Posts, token) {
				t.Fatalf("after %d polls or less, the write at %s is passed at once", i/25+1, token)
			}
			w.after(10 * time.Millisecond)
		}
		w.after(staleness)
		if !w.tail.Passed(schema.Posts, "0:-1#5") {
			t.Error("a state of the range that was split is not passed")
		}
	})
}
