package store_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

var namings = flag.Int("namings", 25, "number of runs of TestConcurrentNamings")

// schedule runs several commands concurrently, but lets them send only one request at a time. A
// seeded random source selects the command that sends the next request, and the commands that
// crash. Over many runs, requests meet in every order.
type schedule struct {
	random *rand.Rand
	ready  chan *scheduled // a command that is about to send a request, or has ended
}

// scheduled is one of the commands.
type scheduled struct {
	proceed chan bool // false: this request and all later ones fail
	ended   bool
}

// start runs a command on a server that no other command uses. It stops before its first request.
func (s *schedule) start(server *world, do func(s *store.Store)) *scheduled {
	c := &scheduled{proceed: make(chan bool)}
	dead := false
	server.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if !dead {
			s.ready <- c
			dead = !<-c.proceed
		}
		if dead {
			return nil, storetest.ErrCut
		}
		return next.Do(request)
	})
	go func() {
		do(server.Store)
		c.ended = true
		s.ready <- c
	}()
	<-s.ready
	return c
}

// run sends one request at a time until all commands have ended. It calls between before each.
func (s *schedule) run(commands []*scheduled, between func()) {
	for len(commands) > 0 {
		i := s.random.IntN(len(commands))
		if commands[i].ended {
			commands = append(commands[:i], commands[i+1:]...)
			continue
		}
		between()
		commands[i].proceed <- s.random.IntN(40) > 0
		<-s.ready
	}
}

// TestConcurrentNamings checks namings whose requests meet in any order, with crashes and
// passing time. No two users share a username. Every user's username is reserved. A username
// that no user has is free after ReservationAge.
//
// All runs share an engine and its servers. Each run has its own users and usernames.
func TestConcurrentNamings(t *testing.T) {
	t.Parallel()
	seed := testseed.Of(t)
	shared := newWorld(t)
	var servers []*world
	for range 4 {
		servers = append(servers, shared.another())
	}
	for run := range *namings {
		t.Run(fmt.Sprintf("%d/%d", seed, run), func(t *testing.T) {
			w := shared.on(t)
			own := func(name string) string { return fmt.Sprint(name, run) }
			ada, bob, carla := own("ada"), own("bob"), own("carla")
			subjects := []string{ada, bob, carla}
			names := []string{own("Xen"), own("Yam"), own("Zed"), ada, bob}
			w.AddUser(ada)
			w.AddUser(bob) // carla has no user yet

			s := &schedule{random: rand.New(rand.NewPCG(seed, uint64(run))), ready: make(chan *scheduled)}
			var commands []*scheduled
			for i := range 3 + s.random.IntN(2) {
				subject, name := subjects[s.random.IntN(3)], names[s.random.IntN(5)]
				commands = append(commands, s.start(servers[i], func(store *store.Store) {
					if subject == carla {
						_, _ = store.CreateUser(w.Ctx(), storetest.Account(subject), name)
					} else {
						_, _ = store.UpdateUser(w.Ctx(), storetest.Account(subject).UserID(), name)
					}
				}))
			}
			s.run(commands, func() {
				w.Clock.Advance(time.Duration(s.random.IntN(3)) * store.ReservationAge / 2)
			})

			taken := w.usernames(subjects)
			w.Clock.Advance(store.ReservationAge)
			for _, name := range names {
				late := "late " + name
				_, err := w.CreateUser(w.Ctx(), storetest.Account(late), name)
				if _, ok := taken[name]; ok {
					w.Fails(err, blog.UsernameTaken)
				} else {
					w.OK(err)
				}
				subjects = append(subjects, late)
			}
			w.usernames(subjects)
		})
	}
}

// usernames returns the subjects by username. It checks that no two users share a username, and
// that each username leads to its user.
func (w *world) usernames(subjects []string) map[string]string {
	w.T.Helper()
	usernames := map[string]string{}
	for _, subject := range subjects {
		user, err := w.User(w.Ctx(), storetest.Account(subject).UserID())
		if cosmos.IsNotFound(err) {
			continue
		}
		w.OK(err)
		if other, ok := usernames[user.Username]; ok {
			w.T.Fatalf("%s and %s both have the username %s", other, subject, user.Username)
		}
		usernames[user.Username] = subject
		w.holdsUsername(user.Username, user.ID)
	}
	return usernames
}

// TestFailedNamingReleasesReservation renames and deletes a user just before another naming of
// the user reserves its username. That naming fails and must delete its reservation itself,
// because the deletion cannot see it.
func TestFailedNamingReleasesReservation(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	other := w.another()
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if target, _ := cosmos.TargetOf(request); target.Container == schema.Usernames && request.Method == http.MethodPost {
			w.Wire.Inject(nil)
			_, err := other.UpdateUser(w.Ctx(), ada.ID, "Bea")
			w.OK(err)
			_, err = other.DeleteUser(w.Ctx(), ada.ID, "Bea")
			w.OK(err)
		}
		return next.Do(request)
	})
	if _, err := w.UpdateUser(w.Ctx(), ada.ID, "Cleo"); err == nil {
		t.Error("a deleted user was renamed")
	}
	if _, _, err := cosmos.Read[schema.ReservationItem](w.Ctx(), w.Container(schema.Usernames), "cleo", "cleo"); !cosmos.IsNotFound(err) {
		t.Errorf("the reservation still exists: %v", err)
	}
}
