package store_test

import (
	"fmt"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
)

func TestCreateUser(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")

	if ada.Username != "Ada" || ada.ID != storetest.Account("Ada").UserID() || !ada.Loaded() {
		t.Errorf("the user is %+v", ada)
	}
	for _, username := range []string{"Ada", "ADA"} { // case does not matter
		again, err := w.CreateUser(w.Ctx(), storetest.Account("Ada"), username)
		w.OK(err)
		if *again != *ada {
			t.Errorf("creating the user again as %s returned %+v, want %+v", username, again, ada)
		}
	}
	_, err := w.CreateUser(w.Ctx(), storetest.Account("Ada"), "Lovelace")
	w.Fails(err, blog.AccountHasUser)
	_, err = w.CreateUser(w.Ctx(), storetest.Account("somebody else"), "ADA")
	w.Fails(err, blog.UsernameTaken)
	_, err = w.CreateUser(w.Ctx(), storetest.Account("somebody else"), "a")
	w.Fails(err, blog.BadUserInput)

	_, err = w.User(w.Ctx(), storetest.Account("somebody else").UserID())
	w.Fails(err, blog.NotFound)
	found, err := w.UserByUsername(w.Ctx(), "aDa")
	w.OK(err)
	if !same(found, ada) {
		t.Errorf("the user with the username is %+v, want %+v", found, ada)
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
	if !same(stored, ada) {
		t.Errorf("after a failed rename, the user is %+v, want %+v", stored, ada)
	}

	for _, name := range []string{"Countess", "COUNTESS", "Ada"} {
		renamed, err := w.UpdateUser(w.Ctx(), ada.ID, name)
		w.OK(err)
		stored, err := w.User(w.Ctx(), ada.ID)
		w.OK(err)
		if !same(renamed, stored) || stored.Username != name {
			t.Errorf("renamed to %s: returned %+v, stored %+v", name, renamed, stored)
		}
		w.holdsUsername(name, ada.ID)
	}
	_, err = w.UserByUsername(w.Ctx(), "Countess")
	w.Fails(err, blog.NotFound)
	renamed, err := w.UpdateUser(w.Ctx(), bob.ID, "Countess") // free immediately
	w.OK(err)
	w.holdsUsername("Countess", renamed.ID)
}

// holdsUsername checks that a user has a username, and that the user is found by it.
func (w *world) holdsUsername(username, userID string) {
	w.T.Helper()
	user, err := w.UserByUsername(w.Ctx(), username)
	w.OK(err)
	if user.ID != userID || user.Username != username {
		w.T.Errorf("the user with the username %s is %+v, want %s", username, user, userID)
	}
}

// TestNamingAfterCrash ends the process before each request of a naming in turn. No two users
// then share a username. The same account can retry immediately, and another account gets the
// username after ReservationAge if it is free.
func TestNamingAfterCrash(t *testing.T) {
	t.Parallel()
	steps := 0
	for n := 1; ; n++ {
		t.Run(fmt.Sprintf("create/%d", n), func(t *testing.T) {
			w := newWorld(t)
			crashing := w.another()
			crashing.Wire.Inject(cosmostest.From(n, storetest.CutBefore))
			_, err := crashing.CreateUser(w.Ctx(), storetest.Account("ada"), "Ada")
			if err == nil {
				steps = n
			}
			w.retryAndCompete("ada", "Ada")
		})
		if steps > 0 {
			break
		}
	}
	if steps < 5 {
		t.Errorf("a creation took only %d requests", steps-1)
	}
	for n := 1; n <= 12; n++ {
		t.Run(fmt.Sprintf("rename/%d", n), func(t *testing.T) {
			w := newWorld(t)
			ada := w.AddUser("Ada")
			crashing := w.another()
			crashing.Wire.Inject(cosmostest.From(n, storetest.CutBefore))
			_, _ = crashing.UpdateUser(w.Ctx(), ada.ID, "Countess")
			w.retryAndCompete("Ada", "Countess")
			// The former username is either kept or free.
			w.Clock.Advance(store.ReservationAge)
			if _, err := w.UserByUsername(w.Ctx(), "Ada"); err != nil {
				_, err := w.CreateUser(w.Ctx(), storetest.Account("Carla"), "Ada")
				w.OK(err)
			}
			w.usernames([]string{"Ada", "bob", "Carla"})
		})
	}
}

// retryAndCompete lets the same account retry and another account try, and checks that one of
// them has the username in the end.
func (w *world) retryAndCompete(subject, username string) {
	w.T.Helper()
	w.usernames([]string{subject, "bob"})
	_, otherErr := w.CreateUser(w.Ctx(), storetest.Account("bob"), username)
	if otherErr == nil { // the first naming had reserved nothing
		w.holdsUsername(username, storetest.Account("bob").UserID())
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
	w.holdsUsername(username, storetest.Account(subject).UserID())
	_, otherErr = w.CreateUser(w.Ctx(), storetest.Account("bob"), username)
	w.Fails(otherErr, blog.UsernameTaken)
}

// TestStaleReservationIsReclaimed checks that another user gets the username of a stale
// reservation, even if its owner continues afterwards.
func TestStaleReservationIsReclaimed(t *testing.T) {
	w := newWorld(t)
	crashing := w.another()
	crashing.Wire.Inject(cosmostest.From(5, storetest.CutBefore)) // before the user takes the reserved username
	_, err := crashing.CreateUser(w.Ctx(), storetest.Account("ada"), "Ada")
	w.Fails(err, blog.Unavailable)

	_, err = w.CreateUser(w.Ctx(), storetest.Account("bob"), "Ada")
	w.Fails(err, blog.UsernameTaken)
	w.Clock.Advance(store.ReservationAge + time.Second)
	bob, err := w.CreateUser(w.Ctx(), storetest.Account("bob"), "Ada")
	w.OK(err)
	w.holdsUsername("Ada", bob.ID)

	_, err = w.CreateUser(w.Ctx(), storetest.Account("ada"), "Ada")
	w.Fails(err, blog.UsernameTaken)
	ada, err := w.CreateUser(w.Ctx(), storetest.Account("ada"), "Lovelace")
	w.OK(err)
	w.holdsUsername("Lovelace", ada.ID)
	w.holdsUsername("Ada", bob.ID)
}
