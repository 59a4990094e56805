package store

import (
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"cosmosblog/internal/blog"
)

const clients = 50

// at runs f for many clients at the same time, who use two servers in turn.
func (w *world) at(n int, f func(s *Store, i int) error) {
	w.t.Helper()
	servers := []*world{w, w.another()}
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { return f(servers[i%2].Store, i) })
	}
	w.ok(group.Wait())
}

func TestLikingTwiceCountsOnce(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	post := w.post(ada)
	for range 3 {
		w.at(clients, func(s *Store, _ int) error {
			_, err := s.LikePost(w.ctx(), ada, post.ID)
			return err
		})
		w.counts(post.ID, 0, 1)
		w.at(clients, func(s *Store, _ int) error {
			_, err := s.UnlikePost(w.ctx(), ada.ID, post.ID)
			return err
		})
		w.counts(post.ID, 0, 0)
	}
}

func TestManyCommentsAndLikes(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user("Ada"))
	users := make([]*blog.User, clients)
	for i := range users {
		users[i] = w.user(fmt.Sprintf("user%d", i))
	}
	w.at(clients, func(s *Store, i int) error {
		if _, err := s.LikePost(w.ctx(), users[i], post.ID); err != nil {
			return err
		}
		_, err := s.CreateComment(w.ctx(), users[i], blog.CommentInput{PostID: post.ID, Content: fmt.Sprintf("Comment %d.", i)})
		return err
	})
	w.counts(post.ID, clients, clients)
}

func TestManyRetriesOfOneKey(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	post := w.post(ada)
	ids := make([]string, 2*clients)
	w.at(len(ids), func(s *Store, i int) error {
		comment, err := s.CreateComment(w.ctx(), ada, blog.CommentInput{PostID: post.ID, Content: "Once.", IdempotencyKey: "key"})
		if err != nil {
			return err
		}
		created, err := s.CreatePost(w.ctx(), ada, blog.PostInput{Title: "Once", Content: "Once.", IdempotencyKey: "key"})
		if err == nil {
			ids[i] = comment.ID + " " + created.ID
		}
		return err
	})
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("one key made %s and %s", ids[0], id)
		}
	}
	w.counts(post.ID, 1, 0)
}

// Of many accounts that want one name one gets it, and of many requests of one account all get the same user.
func TestManyWantOneName(t *testing.T) {
	w := newWorld(t)
	var got atomic.Int32
	w.at(clients, func(s *Store, i int) error {
		user, err := s.CreateUser(w.ctx(), account(fmt.Sprint("account ", i%10)), "Ada")
		switch blog.CodeOf(err) {
		case blog.UsernameTaken, blog.Conflict:
			return nil
		}
		if err != nil {
			return err
		}
		got.Add(1)
		bearer, err := s.UserByUsername(w.ctx(), "Ada")
		if err == nil && bearer.ID != user.ID {
			err = fmt.Errorf("%s and %s both bear the name", user.ID, bearer.ID)
		}
		return err
	})
	if got.Load() == 0 {
		t.Error("nobody got the name")
	}
}

// Renames of one user to many names at the same time: afterwards the user bears one of them, and the others are free.
func TestManyRenamesOfOneUser(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	w.at(10, func(s *Store, i int) error {
		_, err := s.UpdateUser(w.ctx(), ada.ID, fmt.Sprintf("Ada%d", i))
		if err != nil && blog.CodeOf(err) != blog.Conflict {
			return err
		}
		return nil
	})
	user, err := w.User(w.ctx(), ada.ID)
	w.ok(err)
	w.bears(user.Username, ada.ID)
	w.clock.advance(reservationAge)
	for i := range 10 {
		name := fmt.Sprintf("Ada%d", i)
		if name == user.Username {
			continue
		}
		other, err := w.CreateUser(w.ctx(), account(name), name)
		w.ok(err)
		w.bears(name, other.ID)
	}
	w.bears(user.Username, ada.ID)
}
