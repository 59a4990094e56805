package store_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
)

// newStaleWorld is a world whose follower answers reads. Each command below is a session of its
// own, as each request of a client is.
func newStaleWorld(t *testing.T) (*world, *cosmostest.Replica) {
	w, replica := storetest.NewStale(t)
	return &world{w}, replica
}

// edit changes the content of a post in a session of its own.
func (w *world) edit(post *blog.Post, content string, version *int) (*blog.Post, error) {
	return w.UpdatePost(w.Session(), post.Author.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content, Version: version}})
}

// An edit is written even if a stale read shows the post as if it were already made.
func TestEditBackOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	post := w.AddPost(w.AddUser("ann"))
	before := post.Content
	replica.Hold()
	_, err := w.edit(post, "another", nil)
	w.OK(err)
	edited, err := w.edit(post, before, nil)
	w.OK(err)
	replica.CatchUp()
	now, err := w.Post(w.Ctx(), post.ID)
	w.OK(err)
	if now.Content != before || now.Version != 3 || edited.Version != 3 {
		t.Errorf("the content is %q at version %d, the answer was version %d", now.Content, now.Version, edited.Version)
	}
	if replica.Stale() == 0 {
		t.Error("no read was stale")
	}
}

// The version of an acknowledged edit is accepted although a replica does not have it yet.
func TestVersionOfLastEditOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	post := w.AddPost(w.AddUser("ann"))
	replica.Hold()
	edited, err := w.edit(post, "B", nil)
	w.OK(err)
	edited, err = w.edit(post, "C", &edited.Version)
	if w.OK(err); edited.Version != 3 {
		t.Errorf("version %d", edited.Version)
	}
	_, err = w.edit(post, "D", &post.Version)
	w.Fails(err, blog.Conflict)
}

// A post can be edited and deleted although a replica does not have it yet.
func TestNewPostOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	ann := w.AddUser("ann")
	replica.Hold()
	post := w.AddPost(ann)
	_, err := w.edit(post, "B", nil)
	w.OK(err)
	_, err = w.DeletePost(w.Session(), ann.ID, post.ID)
	w.OK(err)
	_, err = w.DeletePost(w.Session(), ann.ID, post.ID)
	w.Fails(err, blog.NotFound)
}

// The answer to a deletion shows the post with its last edit, although a stale read lacks it.
func TestDeletedPostOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	ann := w.AddUser("ann")
	post := w.AddPost(ann)
	replica.Hold()
	edited, err := w.edit(post, "B", nil)
	w.OK(err)
	deleted, err := w.DeletePost(w.Session(), ann.ID, post.ID)
	w.OK(err)
	if deleted.Content != "B" || deleted.Version != edited.Version || deleted.Deleted {
		t.Errorf("the answer is %+v", deleted)
	}
	if replica.Stale() == 0 {
		t.Error("no read was stale")
	}
}

// A user who is renamed back has the former username again, although a stale read shows it all the
// time.
func TestRenameBackOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	ann := w.AddUser("ann")
	replica.Hold()
	for _, username := range []string{"bea", "ann"} {
		user, err := w.UpdateUser(w.Session(), ann.ID, username)
		if w.OK(err); user.Username != username {
			t.Errorf("renamed to %s, the answer is %s", username, user.Username)
		}
	}
	replica.CatchUp()
	user, err := w.User(w.Ctx(), ann.ID)
	if w.OK(err); user.Username != "ann" {
		t.Errorf("the user is named %s", user.Username)
	}
	_, err = w.CreateUser(w.Session(), storetest.Account("another"), "bea")
	w.OK(err)
}

// A user who is deleted is not taken for the one that createUser asks for.
func TestCreateUserAfterDeletionOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	ann := w.AddUser("ann")
	replica.Hold()
	_, err := w.DeleteUser(w.Session(), ann.ID, "ann")
	w.OK(err)
	_, err = w.CreateUser(w.Session(), storetest.Account("ann"), "ann")
	w.Fails(err, blog.DeletionUnderWay)
	_, err = w.DeleteUser(w.Session(), ann.ID, "ann")
	w.Fails(err, blog.NotFound)
}

// A new user can be renamed and deleted, and a username that was given up is free, although a
// replica does not know.
func TestNewUserOnStaleReplica(t *testing.T) {
	w, replica := newStaleWorld(t)
	bob := w.AddUser("bob")
	replica.Hold()
	ann := w.AddUser("ann")
	_, err := w.CurrentUser(w.Session(), ann.ID)
	w.OK(err)
	_, err = w.UpdateUser(w.Session(), bob.ID, "bert")
	w.OK(err)
	_, err = w.UpdateUser(w.Session(), ann.ID, "bob")
	w.OK(err)
	_, err = w.DeleteUser(w.Session(), ann.ID, "bob")
	w.OK(err)
}

// Two renames of one user at once, ann to bea and back, keep the username reserved that the user
// takes last. The first one releases "ann" while a replica lacks the announcement of the second.
func TestRenamesAtOnceOnStaleReplica(t *testing.T) {
	w := newWorld(t)
	ann, second := w.AddUser("ann"), w.another()
	var stale *http.Response // the user before the second announcement
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		switch {
		case request.Method == http.MethodGet && target.Container == schema.Usernames &&
			strings.HasSuffix(request.URL.Path, "/ann") && stale == nil:
			stale = w.answerFor(ann)
			second.Wire.Inject(cosmostest.From(5, storetest.CutBefore)) // before it takes the username
			if _, err := second.UpdateUser(second.Session(), ann.ID, "ann"); err == nil {
				t.Error("the second rename did not stop")
			}
		case request.Method == http.MethodGet && target.Container == schema.Users && stale != nil &&
			lsn(request.Header) <= lsn(stale.Header):
			return stale, nil
		}
		return next.Do(request)
	})
	_, err := w.UpdateUser(w.Session(), ann.ID, "bea")
	w.OK(err)
	w.Wire.Inject(nil)
	if stale == nil {
		t.Fatal("the first rename released nothing")
	}
	reservation, _, err := cosmos.Read[schema.ReservationItem](w.Ctx(), w.Container(schema.Usernames), "ann", "ann")
	if w.OK(err); reservation.UserID != ann.ID {
		t.Errorf("the username is reserved for %s", reservation.UserID)
	}
}

// answerFor returns the present answer to a read of a user, which can be given again.
func (w *world) answerFor(user *blog.User) (answer *http.Response) {
	w.T.Helper()
	reader := w.another()
	reader.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		w.OK(err)
		body, err := io.ReadAll(response.Body)
		w.OK(err)
		answer, err = cosmostest.Respond(response.StatusCode, string(body))(0, request, nil)
		w.OK(err)
		answer.Header = response.Header
		response.Body = io.NopCloser(bytes.NewReader(body))
		return response, nil
	})
	_, err := reader.User(w.Ctx(), user.ID)
	w.OK(err)
	return answer
}

// lsn returns the log sequence number of a session token of one range, or -1.
func lsn(header http.Header) int64 {
	return cosmos.SessionLSN(&http.Response{Header: header})
}

// An edit whose answer was lost is done, although another edit followed before it was retried.
// Readers do not see the first text again.
func TestEditWithLostAnswerBeforeAnother(t *testing.T) {
	for name, version := range map[string]*int{"any version": nil, "version 1": new(1)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			post := w.AddPost(w.AddUser("ann"))
			other, lost := w.another(), false
			w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				response, err := next.Do(request)
				if request.Method != http.MethodPatch || lost {
					return response, err
				}
				lost = true
				_, err = other.edit(post, "C", nil)
				w.OK(err)
				return nil, storetest.ErrCut
			})
			edited, err := w.edit(post, "B", version)
			if w.OK(err); edited.Content != "C" || edited.Version != 3 {
				t.Errorf("the answer is %q at version %d", edited.Content, edited.Version)
			}
			if now, err := w.Post(w.Ctx(), post.ID); err != nil || now.Content != "C" || now.Version != 3 {
				t.Errorf("the post is %+v, %v", now, err)
			}
		})
	}
}

// A session that gets the result of another session's read sees no earlier state afterwards. A
// replica that is behind therefore cannot answer its next read.
func TestSharedReadOnStaleReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, replica := newStaleWorld(t)
		s := store.NewCached(w.DB, readcache.New(1<<20, nil), nil)
		ann := w.AddUser("ann")
		post := w.AddPost(ann)
		replica.Hold()
		w.AddComment(ann, post)

		release := make(chan struct{})
		w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if request.Method != http.MethodGet {
				return next.Do(request)
			}
			<-release
			replica.Lead()
			defer replica.Hold()
			return next.Do(request)
		})
		for range 4 { // the second one leads the read that the others join
			go func() {
				session := w.Session()
				read, err := s.Post(session, post.ID)
				if err != nil {
					t.Error(err)
					return
				}
				comments, err := s.Comments(session, post.ID, blog.PageRequest{First: 20})
				if err != nil || len(comments.Items) != read.CommentCount || read.CommentCount != 1 {
					t.Errorf("a post with %d comments has %d in its list (%v)", read.CommentCount, len(comments.Items), err)
				}
			}()
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
	})
}

// A stream whose session has seen a state that the database has lost begins another session. Until
// then its reads fail.
func TestFollowBeginsAnotherSession(t *testing.T) {
	w := storetest.New(t)
	post := w.AddPost(w.AddUser("Ada"))
	synctest.Test(t, func(t *testing.T) {
		follow := w.Store.Follow()
		cosmos.JoinSession(follow(w.Ctx()), schema.Posts, "0:-1#999")
		for _, isLost := range []bool{true, true, false} {
			if _, err := w.Post(follow(w.Ctx()), post.ID); (err != nil) != isLost {
				t.Errorf("the read of the post: %v, want an error: %v", err, isLost)
			}
			time.Sleep(10 * time.Second)
		}
	})
}
