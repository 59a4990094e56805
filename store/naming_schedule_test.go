package store_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
)

// schedule runs several commands at the same time, one request after the other: which command's request is next, and
// which command dies for good, is drawn from a seed. Every order in which requests can meet comes up in time.
type schedule struct {
	random *rand.Rand
	ready  chan *scheduled // a command that wants to send a request, or has ended
}

// scheduled is one of the commands.
type scheduled struct {
	proceed chan bool // false: the request fails, and all after it
	ended   bool
}

// start runs a command on a server of its own. It stops before its first request.
func (s *schedule) start(w *world, do func(s *store.Store)) *scheduled {
	c := &scheduled{proceed: make(chan bool)}
	server := w.another()
	dead := false
	server.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
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

// run lets one request at a time through until all commands have ended. between is called before each.
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

// Whatever requests of namings meet in whatever order, whoever dies on the way, and however much time passes between:
// nobody shares a name, whoever bears one has it reserved, and a name that nobody bears can be had after a while.
func TestNamingsInEveryOrder(t *testing.T) {
	seed := rand.Uint64()
	names := []string{"Xen", "Yam", "Zed"}
	for run := range 150 {
		t.Run(fmt.Sprintf("%d/%d", seed, run), func(t *testing.T) {
			w := newWorld(t)
			s := &schedule{random: rand.New(rand.NewPCG(seed, uint64(run))), ready: make(chan *scheduled)}
			subjects := []string{"ada", "bob", "carla"}
			w.AddUser("ada")
			w.AddUser("bob") // carla has no user yet

			var commands []*scheduled
			for range 3 + s.random.IntN(2) {
				subject, name := subjects[s.random.IntN(3)], append(names, "ada", "bob")[s.random.IntN(5)]
				commands = append(commands, s.start(w, func(store *store.Store) {
					if subject == "carla" {
						_, _ = store.CreateUser(w.Ctx(), storetest.Account(subject), name)
					} else {
						_, _ = store.UpdateUser(w.Ctx(), storetest.Account(subject).UserID(), name)
					}
				}))
			}
			s.run(commands, func() {
				w.Clock.Advance(time.Duration(s.random.IntN(3)) * store.ReservationAge / 2)
			})

			borne := w.bearers(subjects)
			w.Clock.Advance(store.ReservationAge)
			for _, name := range append(names, "ada", "bob") {
				_, err := w.CreateUser(w.Ctx(), storetest.Account("late "+name), name)
				if _, ok := borne[name]; ok {
					w.Fails(err, blog.UsernameTaken)
				} else {
					w.OK(err)
				}
			}
			w.bearers(append(subjects, "late Xen", "late Yam", "late Zed", "late ada", "late bob"))
		})
	}
}

// bearers gives who bears which name, and holds that nobody shares one and that each is reserved.
func (w *world) bearers(subjects []string) map[string]string {
	w.T.Helper()
	bearers := map[string]string{}
	for _, subject := range subjects {
		user, err := w.User(w.Ctx(), storetest.Account(subject).UserID())
		if cosmos.IsNotFound(err) {
			continue
		}
		w.OK(err)
		if other, ok := bearers[user.Username]; ok {
			w.T.Fatalf("%s and %s both bear %s", other, subject, user.Username)
		}
		bearers[user.Username] = subject
		w.bears(user.Username, user.ID)
	}
	return bearers
}

// A naming that cannot end, because its user was renamed and deleted just before it reserved the name, leaves no
// reservation behind: the deletion has no way to know of it.
func TestANamingThatFailsReleasesTheName(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	other := w.another()
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if target, _ := cosmos.TargetOf(request); target.Container == schema.Usernames && request.Method == http.MethodPost {
			w.Faults.Set(nil)
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
		t.Errorf("the reservation: %v", err)
	}
}
