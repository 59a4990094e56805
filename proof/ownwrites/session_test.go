//go:build ci

package ownwrites

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
)

// inWorld runs a test in a bubble, with a number of servers and a projector that has its leases.
// The account's follower does not lag unless the test makes it.
func inWorld(t *testing.T, servers int, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rand.New(rand.NewPCG(1, 2)))
		for range servers {
			_, stop := w.startServer()
			defer stop()
		}
		stop := w.startProjector("projector", 50*time.Millisecond)
		defer func() { stop() }()
		time.Sleep(balanced)
		w.stopProjector = func() { stop(); stop = func() {} }
		test(w)
	})
}

const (
	createUser = `mutation($n:String!){createUser(input:{username:$n}){user{id}}}`
	createPost = `mutation{createPost(input:{title:"A title",content:"Some content."}){post{id}}}`
	readFeed   = `{feed{nodes{id author{id username}}}}`
)

// user creates the user of an account on a server, and returns its session token.
func (s *server) user(name string) (session string) {
	s.Helper()
	return s.must(name, "", createUser, map[string]any{"n": name}, nil).session
}

// shownPosts returns the number of posts in the feed, whether the answer is stale, and how long it
// took.
func (s *server) shownPosts(subject, session string) (n int, stale bool, took time.Duration) {
	s.Helper()
	var got struct{ Feed struct{ Nodes []shownPost } }
	begun := time.Now()
	a := s.must(subject, session, readFeed, nil, &got)
	return len(got.Feed.Nodes), a.Extensions.Stale, time.Since(begun)
}

// Without a projector, a query of views waits once. Later ones know that waiting is in vain. As
// soon as the projector works again, answers are complete.
func TestLateProjector(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		w.stopProjector()
		for i := range 5 {
			s.must("ada", "", createPost, nil, nil)
			n, stale, took := s.shownPosts("ada", "")
			if n != 0 || !stale {
				t.Errorf("query %d: %d posts, stale: %t", i, n, stale)
			}
			if waited := took >= sessions.MaxWait; waited != (i == 0) {
				t.Errorf("query %d took %v", i, took)
			}
		}
		if _, stale, took := s.shownPosts("", ""); stale || took > 100*time.Millisecond {
			t.Errorf("a stranger's query took %v, stale: %t", took, stale)
		}
		stats := s.sessions.Stats()
		if stats.Waits != 5 || stats.Stale != 5 || stats.Waited < sessions.MaxWait || stats.Charge == 0 {
			t.Errorf("the numbers are %+v", stats)
		}
		stop := w.startProjector("another", 50*time.Millisecond)
		defer stop()
		time.Sleep(time.Minute)
		if n, stale, _ := s.shownPosts("ada", ""); n != 5 || stale {
			t.Errorf("with a projector: %d posts, stale: %t", n, stale)
		}
		s.must("ada", "", createPost, nil, nil)
		if n, stale, _ := s.shownPosts("ada", ""); n != 6 || stale {
			t.Errorf("after another post: %d posts, stale: %t", n, stale)
		}
	})
}

// A token that names a state that no replica has costs its sender a read or a wait, and nobody else
// anything. The answer is stale, and the next mutation returns a token that works.
func TestForgedTokens(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		s.user("eve")
		for name, written := range map[string]string{
			"ahead":           "posts=0:-1#999999999|0:NOW",
			"ahead in users":  "users=0:-1#999999999|",
			"other version":   "posts=0:12#999999999#1=999999999|0:NOW",
			"ahead elsewhere": "posts=77:-1#999999999|77:NOW",
			"unversioned":     "posts=0:1|0:NOW",
			"another range":   "posts=7:-1#9999|7:NOW",
		} {
			token := base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(written, "NOW", fmt.Sprint(time.Now().Unix()))))
			for range 2 {
				if _, stale, took := s.shownPosts("eve", token); !stale && !strings.Contains(name, "users") || took > 100*time.Millisecond {
					t.Errorf("%s: the query took %v, stale: %t", name, took, stale)
				}
			}
			if name == "ahead" { // also the answer to a query replaces the token
				healed := s.must("eve", token, readFeed, nil, nil).session
				if _, stale, _ := s.shownPosts("eve", healed); stale || healed == "" || healed == token {
					t.Errorf("%s: with the token %q of a query, the answer is stale: %t", name, healed, stale)
				}
			}
			a := s.must("eve", token, createPost, nil, nil)
			healed := a.session
			if strings.HasPrefix(written, "posts=7") {
				healed = "" // nobody can know that there is no such range
			}
			if _, stale, _ := w.servers[1].shownPosts("eve", healed); stale {
				t.Errorf("%s: the answer with the token of a mutation is stale", name)
			}
			s.must("ada", "", createPost, nil, nil)
			if _, stale, _ := s.shownPosts("ada", ""); stale {
				t.Errorf("%s: another's answer is stale", name)
			}
		}
	})
}

func TestMalformedTokens(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
		good := w.servers[0].user("ada")
		for _, token := range []string{
			"x", "!", encode("") + ",x", encode("posts"), encode("posts=0"), encode("posts=0:-1#x"), encode("posts=0:-1#1;"), encode("=0:-1#1"),
			encode("posts=0:-1#1\r\nx-ms-date:y"), encode("leases=0:-1#1"), encode("posts=0:-1#1|0:7|u_aaaaaaaaaaaaaaaaaaaaaaaaaa"), encode("posts=0:-1#1|0:7|u_1|1|ada|false"), encode("posts=0:-1#1|0:7|u_aaaaaaaaaaaaaaaaaaaaaaaaaa|x|ada|false"),
			encode("posts=0:-1#1|0:7|u_aaaaaaaaaaaaaaaaaaaaaaaaaa|1|ada|maybe"), encode("posts=0:-1#1|0:7|u_aaaaaaaaaaaaaaaaaaaaaaaaaa|1|<script>|false"), encode("||u_aaaaaaaaaaaaaaaaaaaaaaaaaa|1|ada|false|more"),
			encode("posts=0:-1#1"), encode("posts=0:-1#1|"), encode("posts=0:-1#1|0"), encode("posts=0:-1#1|0:x"), encode("posts=0:-1#1|0:-7"), encode("posts=0:-1#1|1:7"), encode("posts=0:-1#1|0:7,1:7"),
			encode("posts=0:-1#1|0:9999999999999999"), encode("posts=0:-1#1,1:-1#1|0:7,0:7"), encode("users=0:-1#1|0:7"),
			strings.Repeat(good+",", 300) + good,
		} {
			a, err := w.servers[0].ask("ada", token, "{feed{nodes{id}}}", nil)
			if a.status != http.StatusBadRequest || err == nil || !strings.HasPrefix(err.Error(), "BAD_USER_INPUT: The header Cosmosblog-Session") {
				t.Errorf("%.80s: status %d, %v", token, a.status, err)
			}
		}
		for _, token := range []string{good, good + "," + good, good + ", "} {
			if _, stale, _ := w.servers[0].shownPosts("ada", token); stale {
				t.Errorf("%s: stale", token)
			}
		}
	})
}

// Of one address, only some queries wait. The others are stale at once, and so those of another
// address can wait.
func TestWaitsOfOneClient(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		s := w.servers[0]
		s.setProxy(netip.MustParsePrefix("192.0.2.0/24")) // the peer of requests of httptest
		token := w.servers[1].user("ada")
		w.stopProjector()
		token = w.servers[1].must("ada", token, createPost, nil, nil).session
		read := func(from string) (stale bool, took time.Duration) {
			begun := time.Now()
			return s.must("", token, readFeed, nil, nil, "X-Forwarded-For", from).Extensions.Stale, time.Since(begun)
		}
		var all sync.WaitGroup
		var waited atomic.Int64
		for range 100 {
			all.Go(func() {
				stale, took := read("203.0.113.7")
				if took >= sessions.MaxWait {
					waited.Add(1)
				}
				if !stale {
					t.Error("not stale")
				}
			})
		}
		synctest.Wait()
		if stale, took := read("203.0.113.8"); !stale || took < sessions.MaxWait {
			t.Errorf("another client waited for %v, stale: %t", took, stale)
		}
		all.Wait()
		if n := waited.Load(); n != 20 {
			t.Errorf("%d queries of one address waited", n)
		}
	})
}

// A query that waits holds no place among the operations in flight.
func TestWaitsHoldNoPlace(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		s.setInFlight(1)
		s.user("ada")
		w.stopProjector()
		s.must("ada", "", createPost, nil, nil)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if _, stale, took := s.shownPosts("ada", ""); !stale || took < sessions.MaxWait {
				t.Errorf("the query took %v, stale: %t", took, stale)
			}
		})
		synctest.Wait()
		for range 3 {
			if _, stale, _ := s.shownPosts("", ""); stale {
				t.Error("stale")
			}
		}
		waiting.Wait()
	})
}

// A mutation that reads views cannot wait for its own write.
func TestMutationThatReadsViews(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		const withList = `mutation{createPost(input:{title:"A title",content:"Some content."}){post{id author{posts{nodes{id}}}}}}`
		if a := s.must("ada", "", withList, nil, nil); !a.Extensions.Stale || a.session == "" {
			t.Errorf("the answer is %+v", a)
		}
		if a := s.must("ada", "", createPost, nil, nil); a.Extensions.Stale {
			t.Error("the answer of a mutation without views is stale")
		}
	})
}

// A mutation that is rejected has no token.
func TestRejectedMutation(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		token := s.user("ada")
		a, err := s.ask("ada", token, `mutation{createPost(input:{title:"",content:"x"}){post{id}}}`, nil)
		if err == nil || a.session != "" {
			t.Errorf("error %v, session %q", err, a.session)
		}
	})
}

// After a rename, each server shows the client its new name, by the account or by the token. Others
// see the copies as they are.
func TestOwnName(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		s, other := w.servers[0], w.servers[1]
		s.user("ada")
		s.must("ada", "", createPost, nil, nil)
		time.Sleep(time.Second)
		w.stopProjector()
		token := s.must("ada", "", `mutation{updateUser(input:{username:"grace"}){user{id}}}`, nil, nil).session
		for _, test := range []struct {
			s              *server
			subject, token string
			want           string
		}{{s, "ada", "", "grace"}, {other, "ada", token, "grace"}, {other, "", token, "ada"}, {other, "bob", token, "ada"}, {s, "", "", "ada"}} {
			var got struct{ Feed struct{ Nodes []shownPost } }
			test.s.must(test.subject, test.token, readFeed, nil, &got)
			if name := got.Feed.Nodes[0].Author.Username; name != test.want {
				t.Errorf("%q with %q sees %s, want %s", test.subject, test.token, name, test.want)
			}
		}
	})
}

// While the account's user is being deleted, answers with views are stale.
func TestDeletedUser(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		s.must("ada", "", createPost, nil, nil)
		s.must("ada", "", `mutation{deleteUser(input:{username:"ada"}){user{id}}}`, nil, nil)
		if n, stale, took := s.shownPosts("ada", ""); !stale || took > 100*time.Millisecond {
			t.Errorf("%d posts, stale: %t, after %v", n, stale, took)
		}
		time.Sleep(time.Minute)
		if n, stale, _ := s.shownPosts("ada", ""); n != 0 || stale {
			t.Errorf("after the deletion: %d posts, stale: %t", n, stale)
		}
		s.user("ada")
		s.must("ada", "", createPost, nil, nil)
		if n, stale, _ := s.shownPosts("ada", ""); n != 1 || stale {
			t.Errorf("after a new user: %d posts, stale: %t", n, stale)
		}
	})
}

func (w *world) split(rangeID string) {
	w.Helper()
	if err := w.account.Split(w.servers[0].db.Name(), schema.Posts, rangeID); err != nil {
		w.Fatal(err)
	}
}

// Tokens from before a split are understood after it: while the projector still has the lease of
// the whole range, and when it has one for each part.
func TestSplit(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		s, other := w.servers[0], w.servers[1]
		for _, name := range []string{"ada", "bob", "carla"} {
			s.user(name)
			for range 3 {
				s.must(name, "", createPost, nil, nil)
			}
		}
		before := s.must("ada", "", createPost, nil, nil).session
		w.split("0")
		late := s.must("bob", "", createPost, nil, nil).session
		other.shownPosts("ada", before)
		other.shownPosts("bob", late)
		time.Sleep(balanced)
		for _, next := range []string{"1", "2"} {
			for subject, token := range map[string]string{"ada": before, "bob": late} {
				if n, stale, _ := other.shownPosts(subject, token); n < 11 || stale {
					t.Errorf("%s: %d posts, stale: %t", subject, n, stale)
				}
			}
			for _, name := range []string{"ada", "bob", "carla"} {
				after := s.must(name, "", createPost, nil, nil).session
				if n, stale, _ := other.shownPosts(name, after+","+before+","+late); n < 12 || stale {
					t.Errorf("%s: %d posts, stale: %t", name, n, stale)
				}
			}
			w.split(next)
			time.Sleep(balanced)
		}
	})
}

// After a split of the feed, what servers keep serves a client that has written, as before.
func TestKeptViewsAfterSplit(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		s.must("ada", "", createPost, nil, nil)
		if err := w.account.Split(s.db.Name(), schema.Feed, "0"); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			s.must("ada", "", createPost, nil, nil)
			s.shownPosts("ada", "")
			time.Sleep(time.Second)
		}
		s.wire.Inject(nil) // forgets the requests so far
		for range 5 {
			if _, stale, _ := s.shownPosts("ada", ""); stale {
				t.Error("stale")
			}
		}
		reads := 0
		for _, request := range s.wire.Requests() {
			if strings.HasSuffix(request.URL.Path, "/colls/feed/docs") && request.Method == http.MethodPost {
				reads++
			}
		}
		if reads > 1 {
			t.Errorf("5 queries sent %d reads of the feed", reads)
		}
	})
}

// A mutation that succeeded although the answers to its writes were lost is in the next answer, and
// so is one that finds that it was done before.
func TestLostAnswers(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		s, other := w.servers[0], w.servers[1]
		s.user("ada")
		var made struct {
			CreatePost struct{ Post struct{ ID string } }
		}
		s.must("ada", "", createPost, nil, &made)
		deletePost := fmt.Sprintf(`mutation{deletePost(input:{id:%q}){post{id}}}`, made.CreatePost.Post.ID)
		s.shownPosts("ada", "")
		s.wire.Inject(cosmostest.Writes(cosmostest.First(1, storetest.CutAfter)))
		w.account.Follower.Hold()
		a := s.must("ada", "", deletePost, nil, nil)
		w.account.Follower.Trail(50 * time.Millisecond)
		s.wire.Inject(nil)
		if n, stale, _ := s.shownPosts("ada", ""); a.session == "" || n != 0 && !stale {
			t.Errorf("%d posts, stale: %t, with the token %q", n, stale, a.session)
		}
		again, err := other.ask("ada", "", deletePost, nil)
		if n, stale, _ := other.shownPosts("ada", again.session); err == nil || again.session == "" || n != 0 && !stale {
			t.Errorf("after %v: %d posts, stale: %t, with the token %q", err, n, stale, again.session)
		}
	})
}

// The requests of an account share what the server remembers, from its first mutation on.
func TestParallelRequests(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		var all sync.WaitGroup
		for i := range 40 {
			subject := fmt.Sprint("client", i)
			for range 4 {
				all.Go(func() {
					s.must(subject, "", createUser, map[string]any{"n": subject}, nil)
					s.must(subject, "", createPost, nil, nil)
					s.shownPosts(subject, "")
				})
			}
		}
		all.Wait()
	})
}

// Waits end after MaxWait, also if the database is slow.
func TestSlowDatabase(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		w.stopProjector()
		s.must("ada", "", createPost, nil, nil)
		s.shownPosts("", "") // is kept
		s.wire.Inject(cosmostest.Delay(2 * time.Second))
		if _, stale, took := s.shownPosts("ada", ""); !stale || took > sessions.MaxWait+2100*time.Millisecond {
			t.Errorf("the query took %v, stale: %t", took, stale)
		}
	})
}

// After a rename, neither a repeated creation nor a deletion of the user brings the former name
// back.
func TestNewNameStays(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		s := w.servers[0]
		s.user("ada")
		s.must("ada", "", createPost, nil, nil)
		s.shownPosts("ada", "")
		w.stopProjector()
		check := func(after, session string) {
			t.Helper()
			for _, session := range []string{"", session} { // the second server knows nothing by itself
				var got struct{ Feed struct{ Nodes []shownPost } }
				from := s
				if session != "" {
					from = w.servers[1]
				}
				from.must("ada", session, readFeed, nil, &got)
				if len(got.Feed.Nodes) != 1 || got.Feed.Nodes[0].Author.Username != "eve" {
					t.Errorf("after %s: the feed has %+v", after, got.Feed.Nodes)
				}
			}
		}
		session := s.must("ada", "", `mutation{updateUser(input:{username:"eve"}){user{id}}}`, nil, nil).session
		check("the rename", session)
		session = s.must("ada", session, createUser, map[string]any{"n": "eve"}, nil).session
		check("the creation", session)
		session = s.must("ada", session, `mutation{deleteUser(input:{username:"eve"}){user{id}}}`, nil, nil).session
		check("the deletion", session)
	})
}

// A client that has written nothing to posts waits for nothing.
func TestNewUserDoesNotWait(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		s := w.servers[0]
		token := s.user("ada")
		for _, sent := range []string{"", token} {
			if _, stale, _ := s.shownPosts("ada", sent); stale {
				t.Error("stale")
			}
		}
		if stats := s.sessions.Stats(); stats.Waits != 0 || stats.Charge != 0 {
			t.Errorf("the numbers are %+v", stats)
		}
	})
}
