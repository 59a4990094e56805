package store

import (
	"fmt"
	"testing"
	"time"

	"cosmosblog/internal/blog"
)

func TestCreateUser(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")

	if ada.Username != "Ada" || ada.ID != account("Ada").UserID() || !ada.Loaded() {
		t.Errorf("the user is %+v", ada)
	}
	for _, username := range []string{"Ada", "ADA"} { // the same name, whatever its case
		again, err := w.CreateUser(w.ctx(), account("Ada"), username)
		w.ok(err)
		if *again != *ada {
			t.Errorf("again as %s, the user is %+v, want %+v", username, again, ada)
		}
	}
	_, err := w.CreateUser(w.ctx(), account("Ada"), "Lovelace")
	w.fails(err, blog.Conflict)
	_, err = w.CreateUser(w.ctx(), account("somebody else"), "ADA")
	w.fails(err, blog.UsernameTaken)
	_, err = w.CreateUser(w.ctx(), account("somebody else"), "a")
	w.fails(err, blog.BadUserInput)

	_, err = w.User(w.ctx(), account("somebody else").UserID())
	w.fails(err, blog.NotFound)
	found, err := w.UserByUsername(w.ctx(), "aDa")
	w.ok(err)
	if *found != *ada {
		t.Errorf("by the username it is %+v, want %+v", found, ada)
	}
}

func TestUpdateUser(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")

	_, err := w.UpdateUser(w.ctx(), ada.ID, "BOB")
	w.fails(err, blog.UsernameTaken)
	_, err = w.UpdateUser(w.ctx(), account("nobody").UserID(), "Nobody")
	w.fails(err, blog.NotFound)
	stored, err := w.User(w.ctx(), ada.ID)
	w.ok(err)
	if *stored != *ada {
		t.Errorf("a rename that failed left %+v, want %+v", stored, ada)
	}

	for _, name := range []string{"Countess", "COUNTESS", "Ada"} {
		renamed, err := w.UpdateUser(w.ctx(), ada.ID, name)
		w.ok(err)
		stored, err := w.User(w.ctx(), ada.ID)
		w.ok(err)
		if *renamed != *stored || stored.Username != name {
			t.Errorf("renamed to %s, the answer is %+v and the user %+v", name, renamed, stored)
		}
		w.bears(name, ada.ID)
	}
	_, err = w.UserByUsername(w.ctx(), "Countess")
	w.fails(err, blog.NotFound)
	renamed, err := w.UpdateUser(w.ctx(), bob.ID, "Countess") // free at once, without a wait
	w.ok(err)
	w.bears("Countess", renamed.ID)
}

// bears holds that a user is found by a username, and that a reservation stands behind it.
func (w *world) bears(username, userID string) {
	w.t.Helper()
	user, err := w.UserByUsername(w.ctx(), username)
	w.ok(err)
	if user.ID != userID || user.Username != username {
		w.t.Errorf("%s leads to %+v, want %s", username, user, userID)
	}
}

// The process dies before each request of a naming in turn. Whatever it left, nobody shares a name with another, the
// same account can do it again at once, and after a while another account gets the name.
func TestNamingSurvivesDeath(t *testing.T) {
	steps := 0
	for n := 1; ; n++ {
		t.Run(fmt.Sprintf("create/%d", n), func(t *testing.T) {
			w := newWorld(t)
			dying := w.another()
			dying.faults.set(deadFrom(n))
			_, err := dying.CreateUser(w.ctx(), account("ada"), "Ada")
			if err == nil {
				steps = n
			}
			w.oneOfBoth("ada", "Ada")
		})
		if steps > 0 {
			break
		}
	}
	if steps < 5 {
		t.Errorf("a creation took %d requests: the test kills nothing", steps-1)
	}
	for n := 1; n <= 12; n++ {
		t.Run(fmt.Sprintf("rename/%d", n), func(t *testing.T) {
			w := newWorld(t)
			ada := w.user("Ada")
			dying := w.another()
			dying.faults.set(deadFrom(n))
			_, _ = dying.UpdateUser(w.ctx(), ada.ID, "Countess")
			w.oneOfBoth("Ada", "Countess")
			// The old name was either kept or let go, and then it is free.
			w.clock.advance(reservationAge)
			if _, err := w.UserByUsername(w.ctx(), "Ada"); err != nil {
				_, err := w.CreateUser(w.ctx(), account("Carla"), "Ada")
				w.ok(err)
			}
			w.bearers([]string{"Ada", "bob", "Carla"})
		})
	}
}

// oneOfBoth lets the same account try again, and another account, and holds that one of them bears the name in the end.
func (w *world) oneOfBoth(subject, username string) {
	w.t.Helper()
	w.bearers([]string{subject, "bob"})
	_, otherErr := w.CreateUser(w.ctx(), account("bob"), username)
	if otherErr == nil { // nothing was reserved yet
		w.bears(username, account("bob").UserID())
		return
	}
	w.fails(otherErr, blog.UsernameTaken)
	w.clock.advance(reservationAge)
	if _, err := w.User(w.ctx(), account(subject).UserID()); err == nil {
		_, err := w.UpdateUser(w.ctx(), account(subject).UserID(), username)
		w.ok(err)
	} else {
		_, err := w.CreateUser(w.ctx(), account(subject), username)
		w.ok(err)
	}
	w.bears(username, account(subject).UserID())
	_, otherErr = w.CreateUser(w.ctx(), account("bob"), username)
	w.fails(otherErr, blog.UsernameTaken)
}

// A reservation whose user died is taken over by another after a while, whatever the first one does then.
func TestStaleReservationIsTakenOver(t *testing.T) {
	w := newWorld(t)
	dying := w.another()
	dying.faults.set(deadFrom(5)) // before the user takes the name that is reserved
	_, err := dying.CreateUser(w.ctx(), account("ada"), "Ada")
	w.fails(err, blog.Internal)

	_, err = w.CreateUser(w.ctx(), account("bob"), "Ada")
	w.fails(err, blog.UsernameTaken)
	w.clock.advance(reservationAge + time.Second)
	bob, err := w.CreateUser(w.ctx(), account("bob"), "Ada")
	w.ok(err)
	w.bears("Ada", bob.ID)

	_, err = w.CreateUser(w.ctx(), account("ada"), "Ada")
	w.fails(err, blog.UsernameTaken)
	ada, err := w.CreateUser(w.ctx(), account("ada"), "Lovelace")
	w.ok(err)
	w.bears("Lovelace", ada.ID)
	w.bears("Ada", bob.ID)
}
