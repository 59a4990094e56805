//go:build ci

package projector_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
)

// A first naming, a rename or a rename back may end at any of its requests, and another one may
// follow. The projector then frees all usernames that no user has or announces: an audit finds
// nothing.
func TestInterruptedNamingsLeaveNothing(t *testing.T) {
	account := blog.Account{Issuer: "test", Subject: "anna"}
	create := func(s *storetest.Database, name string) error {
		_, err := s.CreateUser(context.Background(), account, name)
		return err
	}
	rename := func(s *storetest.Database, name string) error {
		_, err := s.UpdateUser(context.Background(), account.UserID(), name)
		return err
	}
	for name, naming := range map[string]struct {
		before string // the first username; empty if the user does not exist
		change func(s *storetest.Database, name string) error
		next   string // another username, or the former one; empty if nothing follows
		left   int64  // requests until the next naming is interrupted too
	}{
		"a rename":                           {"anna", rename, "", 0},
		"a rename, then another":             {"anna", rename, "annie", enough},
		"a rename, then back":                {"anna", rename, "anna", enough},
		"a first name, then another":         {"", create, "annie", enough},
		"a first name, then an announcement": {"", create, "annie", 3},
		"a rename, then an announcement":     {"anna", rename, "annie", 3},
		"a rename, then a deleted account":   {"anna", rename, deleted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for n, again := int64(0), true; again; n++ {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					if naming.before != "" {
						w.must(create(w.store, naming.before))
					}
					wire, s := w.wired()
					wire.left.Store(n)
					again = naming.change(s, "anne") != nil || wire.left.Load() < 0
					switch {
					case naming.next == deleted:
						user, err := w.store.User(context.Background(), account.UserID())
						w.must(err)
						w.deleteUser(user)
					case naming.next != "":
						wire, s := w.wired()
						wire.left.Store(naming.left)
						_ = naming.change(s, naming.next) // rejected if the user has another name
					}
					time.Sleep(time.Minute)
					w.settle()
					w.wantNoDrift()
				})
				if t.Failed() {
					t.Fatalf("after %d requests", n)
				}
			}
		})
	}
}

// deleted stands for the deletion of the user instead of another naming.
const deleted = "-"

// enough is a number of requests that no naming reaches.
const enough = 1 << 40
