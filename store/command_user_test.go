package store_test

import (
	"fmt"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/storetest"
)

func TestCreateUser(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")

	if ada.Username != "Ada" || ada.ID != storetest.Account("Ada").UserID() || !ada.Loaded() {
		t.Errorf("the user is %+v", ada)
	}
	for _, username := range []string{"Ada", "ADA"} { // the same name, whatever its case
		again, err := w.CreateUser(w.Ctx(), storetest.Account("Ada"), username)
		w.OK(err)
		if *again != *ada {
			t.Errorf("again as %s, the user is %+v, want %+v", username, again, ada)
		}
	}
	_, err := w.CreateUser(w.Ctx(), storetest.Account("Ada"), "Lovelace")
	w.Fails(err, blog.Conflict)
	_, err = w.CreateUser(w.Ctx(), storetest.Account("somebody else"), "ADA")
	w.Fails(err, blog.UsernameTaken)
	_, err = w.CreateUser(w.Ctx(), storetest.Account("somebody else"), "a")
	w.Fails(err, blog.BadUserInput)

	_, err = w.User(w.Ctx(), storetest.Account("somebody else").UserID())
	w.Fails(err, blog.NotFound)
	found, err := w.UserByUsername(w.Ctx(), "aDa")
	w.OK(err)
	if *found != *ada {
		t.Errorf("by the username it is %+v, want %+v", found, ada)
	}
}

func TestUpdateUser(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")

	_, err := w.UpdateUser(w.Ctx(), ada.ID, "BOB")
	w.Fails(err, blog.UsernameTaken)
	_, err = w.UpdateUser(w.Ctx(), storetest.Account("nobody").UserID(), "Nobody")
	w.Fails(err, blog.NotFound)
	stored, err := w.User(w.Ctx(), ada.ID)
	w.OK(err)
	if *stored != *ada {
		t.Errorf("a rename that failed left %+v, want %+v", stored, ada)
	}

	for _, name := range []string{"Countess", "COUNTESS", "Ada"} {
		renamed, err := w.UpdateUser(w.Ctx(), ada.ID, name)
		w.OK(err)
		stored, err := w.User(w.Ctx(), ada.ID)
		w.OK(err)
		if *renamed != *stored || stored.Username != name {
			t.Errorf("renamed to %s, the answer is %+v and the user %+v", name, renamed, stored)
		}
		w.bears(name, ada.ID)
	}
	_, err = w.UserByUsername(w.Ctx(), "Countess")
	w.Fails(err, blog.NotFound)
	renamed, err := w.UpdateUser(w.Ctx(), bob.ID, "Countess") // free at once, without a wait
	w.OK(err)
	w.bears("Countess", renamed.ID)
}

// bears holds that a user is found by a username, and that a reservation stands behind it.
func (w *world) bears(username, userID string) {
	w.T.Helper()
	user, err := w.UserByUsername(w.Ctx(), username)
	w.OK(err)
	if user.ID != userID || user.Username != username {
		w.T.Errorf("%s leads to %+v, want %s", username, user, userID)
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
			dying.Faults.Set(storetest.DeadFrom(n))
			_, err := dying.CreateUser(w.Ctx(), storetest.Account("ada"), "Ada")
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
			ada := w.AddUser("Ada")
			dying := w.another()
			dying.Faults.Set(storetest.DeadFrom(n))
			_, _ = dying.UpdateUser(w.Ctx(), ada.ID, "Countess")
			w.oneOfBoth("Ada", "Countess")
			// The old name was either kept or let go, and then it is free.
			w.Clock.Advance(store.ReservationAge)
			if _, err := w.UserByUsername(w.Ctx(), "Ada"); err != nil {
				_, err := w.CreateUser(w.Ctx(), storetest.Account("Carla"), "Ada")
				w.OK(err)
			}
			w.bearers([]string{"Ada", "bob", "Carla"})
		})
	}
}

// oneOfBoth lets the same account try again, and another account, and holds that one of them bears the name in the end.
func (w *world) oneOfBoth(subject, username string) {
	w.T.Helper()
	w.bearers([]string{subject, "bob"})
	_, otherErr := w.CreateUser(w.Ctx(), storetest.Account("bob"), username)
	if otherErr == nil { // nothing was reserved yet
		w.bears(username, storetest.Account("bob").UserID())
		return
	}
	w.Fails(otherErr, blog.UsernameTaken)
	w.Clock.Advance(store.ReservationAge)
	if _, err := w.User(w.Ctx(), storetest.Account(subject).UserID()); err == nil {
		_, err := w.UpdateUser(w.Ctx(), storetest.Account(subject).UserID(), username)
		w.OK(err)
	} else {
		_, err := w.CreateUser(w.Ctx(), storetest.Account(subject), username)
		w.OK(err)
	}
	w.bears(username, storetest.Account(subject).UserID())
	_, otherErr = w.CreateUser(w.Ctx(), storetest.Account("bob"), username)
	w.Fails(otherErr, blog.UsernameTaken)
}

// A reservation whose user died is taken over by another after a while, whatever the first one does then.
func TestStaleReservationIsTakenOver(t *testing.T) {
	w := newWorld(t)
	dying := w.another()
	dying.Faults.Set(storetest.DeadFrom(5)) // before the user takes the name that is reserved
	_, err := dying.CreateUser(w.Ctx(), storetest.Account("ada"), "Ada")
	w.Fails(err, blog.Internal)

	_, err = w.CreateUser(w.Ctx(), storetest.Account("bob"), "Ada")
	w.Fails(err, blog.UsernameTaken)
	w.Clock.Advance(store.ReservationAge + time.Second)
	bob, err := w.CreateUser(w.Ctx(), storetest.Account("bob"), "Ada")
	w.OK(err)
	w.bears("Ada", bob.ID)

	_, err = w.CreateUser(w.Ctx(), storetest.Account("ada"), "Ada")
	w.Fails(err, blog.UsernameTaken)
	ada, err := w.CreateUser(w.Ctx(), storetest.Account("ada"), "Lovelace")
	w.OK(err)
	w.bears("Lovelace", ada.ID)
	w.bears("Ada", bob.ID)
}
