package store_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
)

const clients = 50

// concurrently runs f for n clients at the same time, on two servers.
func (w *world) concurrently(n int, f func(s *store.Store, i int) error) {
	w.T.Helper()
	servers := []*world{w, w.another()}
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { return f(servers[i%2].Store, i) })
	}
	w.OK(group.Wait())
}

func TestConcurrentLikesByOneUser(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	for range 3 {
		w.concurrently(clients, func(s *store.Store, _ int) error {
			_, err := s.LikePost(w.Ctx(), ada, post.ID)
			return err
		})
		w.HoldsCounts(post.ID, 0, 1)
		w.concurrently(clients, func(s *store.Store, _ int) error {
			_, err := s.UnlikePost(w.Ctx(), ada, post.ID)
			return err
		})
		w.HoldsCounts(post.ID, 0, 0)
	}
}

func TestConcurrentCommentsAndLikes(t *testing.T) {
	w := newWorld(t)
	post := w.AddPost(w.AddUser("Ada"))
	users := make([]*blog.User, clients)
	for i := range users {
		users[i] = w.AddUser(fmt.Sprintf("user%d", i))
	}
	w.concurrently(clients, func(s *store.Store, i int) error {
		if _, err := s.LikePost(w.Ctx(), users[i], post.ID); err != nil {
			return err
		}
		_, err := s.CreateComment(w.Ctx(), users[i], blog.CreateCommentInput{PostID: post.Ref(), Content: fmt.Sprintf("Comment %d.", i)})
		return err
	})
	w.HoldsCounts(post.ID, clients, clients)
}

func TestConcurrentUsesOfOneKey(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	ids := make([]string, 2*clients)
	w.concurrently(len(ids), func(s *store.Store, i int) error {
		comment, err := s.CreateComment(w.Ctx(), ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "Once.", IdempotencyKey: new("key")})
		if err != nil {
			return err
		}
		created, err := s.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "Once", Content: "Once.", IdempotencyKey: new("key")})
		if err == nil {
			ids[i] = comment.ID + " " + created.ID
		}
		return err
	})
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("one key created %s and %s", ids[0], id)
		}
	}
	w.HoldsCounts(post.ID, 1, 0)
}

// TestConcurrentCreationsWithOneUsername checks that one of many accounts gets a username, and
// that all requests of that account return the same user.
func TestConcurrentCreationsWithOneUsername(t *testing.T) {
	w := newWorld(t)
	var got atomic.Int32
	w.concurrently(clients, func(s *store.Store, i int) error {
		user, err := s.CreateUser(w.Ctx(), storetest.Account(fmt.Sprint("account ", i%10)), "Ada")
		switch blog.CodeOf(err) {
		case blog.UsernameTaken, blog.TryAgain:
			return nil
		}
		if err != nil {
			return err
		}
		got.Add(1)
		owner, err := s.UserByUsername(w.Ctx(), "Ada")
		if err == nil && owner.ID != user.ID {
			err = fmt.Errorf("%s and %s both have the username", user.ID, owner.ID)
		}
		return err
	})
	if got.Load() == 0 {
		t.Error("no account got the username")
	}
}

// TestConcurrentRenamesOfOneUser checks that the user has one of the usernames afterwards, and
// that the others are free.
func TestConcurrentRenamesOfOneUser(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	w.concurrently(10, func(s *store.Store, i int) error {
		_, err := s.UpdateUser(w.Ctx(), ada.ID, fmt.Sprintf("Ada%d", i))
		if err != nil && blog.CodeOf(err) != blog.TryAgain {
			return err
		}
		return nil
	})
	user, err := w.User(w.Ctx(), ada.ID)
	w.OK(err)
	w.holdsUsername(user.Username, ada.ID)
	w.Clock.Advance(store.ReservationAge)
	for i := range 10 {
		name := fmt.Sprintf("Ada%d", i)
		if name == user.Username {
			continue
		}
		other, err := w.CreateUser(w.Ctx(), storetest.Account(name), name)
		w.OK(err)
		w.holdsUsername(name, other.ID)
	}
	w.holdsUsername(user.Username, ada.ID)
}
