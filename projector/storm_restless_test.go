package projector_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Two kinds of accounts are restless. Some rename their users all the time, to a few usernames that
// all of them want. Others delete their users, and create them again as soon as they can. The
// writers check after each command what must be true at every time, because later commands hide
// mistakes.
const (
	renamingAccounts   = 6
	leavingAccounts    = 5
	contestedUsernames = 20
)

// newPool creates the first users of writers.
func (w *world) newPool() *pool {
	w.Helper()
	pool := &pool{}
	for range 10 {
		pool.users = append(pool.users, w.user())
	}
	for i := range renamingAccounts + leavingAccounts {
		id := blog.Account{Issuer: "test", Subject: fmt.Sprint("restless", i)}.UserID()
		if i < renamingAccounts {
			pool.renaming = append(pool.renaming, id)
		} else {
			pool.leaving = append(pool.leaving, id)
		}
	}
	return pool
}

// renameRestless renames the user of a renaming account, and renames the user back within a moment,
// as from another tab.
func (w *writer) renameRestless(ctx context.Context, _ *blog.User) error {
	id, moment := w.renaming[w.IntN(len(w.renaming))], time.Duration(w.Int64N(int64(maxTrail)))
	user, err := w.store.User(ctx, id)
	switch {
	case isRefusal(err):
		return w.createAgain(ctx, id)
	case err != nil:
		return err
	}
	var back error
	var tab sync.WaitGroup
	tab.Go(func() {
		time.Sleep(moment)
		_, back = w.store.UpdateUser(ctx, id, user.Username)
		w.checkReserved(id)
	})
	_, err = w.store.UpdateUser(ctx, id, w.contestedName())
	w.checkReserved(id)
	tab.Wait()
	return errors.Join(err, back)
}

// leaveAndReturn deletes the users of the leaving accounts, and creates those that were deleted.
func (w *writer) leaveAndReturn(ctx context.Context, _ *blog.User) (err error) {
	for _, id := range w.leaving {
		user, readErr := w.store.User(ctx, id)
		switch {
		case isRefusal(readErr):
			err = errors.Join(err, w.createAgain(ctx, id))
		case readErr == nil:
			_, readErr = w.store.DeleteUser(ctx, id, user.Username)
		}
		err = errors.Join(err, readErr)
	}
	return err
}

func (w *writer) contestedName() string { return fmt.Sprint("contested", w.IntN(contestedUsernames)) }

// createAgain creates the user of an account, and a post. If the account had a user before, its
// deletion must be over, and nothing may be left of that user.
func (w *writer) createAgain(ctx context.Context, id string) error {
	user, err := w.store.CreateUserAt(ctx, id, w.contestedName(), "")
	if err != nil {
		return err
	}
	w.checkReserved(id)
	left, err := cosmos.QueryAcross[item](w.Context(), w.world.store.DB.Container(schema.Posts), leftQuery,
		azcosmos.QueryParameter{Name: "@id", Value: id}, azcosmos.QueryParameter{Name: "@revision", Value: user.Revision})
	if len(left) > 0 {
		w.Errorf("%s was created again, but the deleted user still has %v", id, left)
	}
	return errors.Join(err, w.createPost(ctx, user))
}

const leftQuery = `SELECT c.id, c.authorRevision FROM c WHERE c.userId = @id AND c.authorRevision < @revision` +
	` AND (c.type = 'like' OR c.deleted = false)`

// checkReserved checks that the username of a user is reserved for this user. If so, no other user
// has it.
func (w *writer) checkReserved(id string) {
	user, err := w.world.store.User(w.Context(), id)
	if err != nil {
		return // deleted
	}
	holder, err := w.world.store.UserByUsername(w.Context(), user.Username)
	if err == nil && holder.ID == id {
		return
	}
	if now, nowErr := w.world.store.User(w.Context(), id); nowErr == nil && now.Revision == user.Revision {
		w.Errorf("the username %s of %s is not reserved for them: %+v, %v", user.Username, id, holder, err)
	}
}

// unforgotten refuses to forget a finished deletion for a while, and to record another deletion of
// the account meanwhile. In that time the account may have another user, who is deleted too.
type unforgotten struct {
	next policy.Transporter

	mu     sync.Mutex
	random *rand.Rand
	until  map[string]time.Time // by partition of leases
}

func (s *storm) newUnforgotten() *unforgotten {
	return &unforgotten{next: s.transport, random: rand.New(rand.NewPCG(s.seed, 4)), until: map[string]time.Time{}}
}

func (u *unforgotten) Do(request *http.Request) (*http.Response, error) {
	partition := request.Header.Get("X-Ms-Documentdb-Partitionkey")
	if isWrite(request) && strings.HasPrefix(partition, `["deletion.`) && u.refuses(partition, request.Method == http.MethodDelete) {
		return refusal(request, http.StatusServiceUnavailable), nil
	}
	return u.next.Do(request)
}

// refuses reports whether a write of a pending deletion is refused. The time begins when it is to
// be forgotten first.
func (u *unforgotten) refuses(partition string, forgets bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	end, ok := u.until[partition]
	if !ok && forgets {
		end = time.Now().Add(time.Duration(u.random.Int64N(int64(40 * time.Second))))
		u.until[partition] = end
	}
	if time.Now().Before(end) {
		return true
	}
	if forgets {
		delete(u.until, partition)
	}
	return false
}
