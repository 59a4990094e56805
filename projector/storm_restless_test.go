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

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Two kinds of accounts are restless. Some rename their users all the time, to a few usernames that
// all of them want. Others delete their users, and create them again as soon as they can. All users
// edit posts from several tabs. The writers check after each command what must be true at every
// time, because later commands hide mistakes.
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

// A user edits a post from editingTabs tabs within editingTime. If the answer of an edit is lost,
// another edit usually comes before its retry.
const (
	editingTabs = 6
	editingTime = 40 * time.Millisecond
)

// editInTabs edits a new post that nobody else edits yet: first there and back, one edit after the
// other, and then from several tabs. Each acknowledged edit must be made exactly once, and a
// rejected one never. The first tab names the version that it read.
func (w *writer) editInTabs(ctx context.Context, user *blog.User) error {
	post, err := w.store.CreatePost(ctx, user, blog.CreatePostInput{Title: w.title(), Content: w.text()})
	if err != nil {
		return err
	}
	defer add(w.pool, &w.pool.posts, post)
	version := post.Version
	for _, title := range []string{post.Title + " edited", post.Title} {
		edited, err := w.edit(ctx, post, blog.PostChange{Title: &title})
		if err != nil {
			return err
		}
		version++
		if edited.Title != title || edited.Version != version {
			w.Errorf("%s was edited to %q, version %d, but the answer is %+v", post.ID, title, version, edited)
		}
		w.checkEdits(post, version, version)
	}
	w.editAtOnce(ctx, post, version)
	return nil
}

// editAtOnce edits a post from several tabs within a moment.
func (w *writer) editAtOnce(ctx context.Context, post *blog.Post, version int) {
	var group sync.WaitGroup
	errs := make([]error, editingTabs)
	for tab := range errs {
		content := fmt.Sprintf("content of tab %d ", tab)
		if w.IntN(2) == 0 {
			content = longText(content)
		}
		change := blog.PostChange{Title: new(fmt.Sprintf("title of tab %d", tab)), Content: &content}
		if tab == 0 {
			change.Version = &version
		}
		moment := time.Duration(w.Int64N(int64(editingTime)))
		group.Go(func() {
			time.Sleep(moment)
			_, errs[tab] = w.edit(ctx, post, change)
		})
	}
	group.Wait()
	least, most := version, version
	for _, err := range errs {
		switch code := blog.CodeOf(err); {
		case err == nil:
			least++
			most++
		case code != blog.Conflict && code != blog.TryAgain: // the edit may have been made
			most++
		}
	}
	w.checkEdits(post, least, most)
}

// edit edits a post. If the edit is rejected because the post is not there, it must have been
// deleted with its user.
func (w *writer) edit(ctx context.Context, post *blog.Post, change blog.PostChange) (*blog.Post, error) {
	edited, err := w.store.UpdatePost(ctx, post.Author.ID, blog.UpdatePostInput{ID: blog.PostRef(post.ID), PostChange: change})
	if blog.CodeOf(err) == blog.NotFound {
		if now, nowErr := w.world.store.Post(w.Context(), post.ID); nowErr == nil {
			w.Errorf("%s was not found for an edit, but is there: %+v", post.ID, now)
		}
	}
	return edited, err
}

// checkEdits checks the version of a post, and that its title and its content are from the same
// edit, unless its user was deleted.
func (w *writer) checkEdits(post *blog.Post, least, most int) {
	now, err := w.world.store.Post(w.Context(), post.ID)
	if err != nil {
		return
	}
	if now.Version < least || now.Version > most {
		w.Errorf("%s must have a version from %d to %d, but has %d: %q", post.ID, least, most, now.Version, now.Title)
	}
	tab, ok := strings.CutPrefix(now.Title, "title of tab ")
	if ok && !strings.HasPrefix(now.Content, "content of tab "+tab+" ") || blog.SizeOf(now.Content) != now.ContentSize {
		w.Errorf("%s has the title %q and the content %.20q of %v", post.ID, now.Title, now.Content, now.ContentSize)
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
