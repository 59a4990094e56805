package provision_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// block makes the account block a script, as a script that takes more than two seconds of its
// container's throughput is. The script is replaced by one of the same id that does so.
func block(w *storetest.World, script cosmos.Script) {
	w.T.Helper()
	heavy := script
	heavy.Body = `function heavy(args) {
		for (let i = 0; i < 900; i++) __.readDocument(__.getAltLink() + "/docs/none", {}, () => {});
	}`
	_, err := w.DB.DeleteScript(w.Ctx(), script)
	w.OK(err)
	_, err = w.DB.RegisterScript(w.Ctx(), heavy)
	w.OK(err)
	for range 3 {
		_, err := w.DB.Execute(w.Ctx(), script, "p", nil, nil)
		w.OK(err)
	}
}

// TestRecreateScripts mends blocked scripts. Meanwhile, their commands fail, and no other one does.
func TestRecreateScripts(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("ada")
	post := w.AddPost(ada)
	block(w, schema.CreateLike)
	_, err := w.LikePost(w.Ctx(), ada, post.ID)
	w.Fails(err, blog.Internal)
	if !cosmos.IsScriptBlocked(err) || !cosmos.IsItemError(err) || !strings.Contains(err.Error(), "provision --scripts recreate") {
		t.Errorf("the error is %v", err)
	}
	w.AddComment(ada, post)
	blocked, err := schema.Check(w.Ctx(), w.DB)
	if err != nil || !slices.Equal(blocked, []string{schema.CreateLike.ID}) {
		t.Errorf("the check found %v, %v", blocked, err)
	}
	if _, err := provision.Run(w.Ctx(), w.DB, provision.Options{}); err == nil {
		t.Error("a script with another text is no difference")
	}
	_, err = w.DB.DeleteScript(w.Ctx(), schema.CreateLike)
	w.OK(err)
	done, err := provision.Run(w.Ctx(), w.DB, provision.Options{RecreateScripts: true})
	w.OK(err)
	if len(done) != len(schema.Scripts) || !slices.Contains(done, "created the "+schema.CreateLike.Label()) ||
		!slices.Contains(done, "created the "+schema.TruncateFeed.Label()+" again") {
		t.Errorf("provision did %q", done)
	}
	_, err = w.LikePost(w.Ctx(), ada, post.ID)
	w.OK(err)
	if blocked, err := schema.Check(w.Ctx(), w.DB); err != nil || blocked != nil {
		t.Errorf("then the check found %v, %v", blocked, err)
	}
}

// TestCommandsWhileScriptsAreRecreated executes commands between the deletion of their script and
// its creation. If it comes back soon, they succeed; otherwise they are told to come again.
func TestCommandsWhileScriptsAreRecreated(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("ada")
	post := w.AddPost(ada)
	_, err := w.DB.DeleteScript(w.Ctx(), schema.CreateLike)
	w.OK(err)
	_, err = w.LikePost(w.Ctx(), ada, post.ID)
	var e *blog.Error
	if !errors.As(err, &e) || e.Code != blog.Unavailable || e.RetryAfter != time.Second {
		t.Errorf("the error is %v", err)
	}
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n == 3 {
			_, err := w.Another().DB.RegisterScript(w.Ctx(), schema.CreateLike)
			w.OK(err)
		}
		return next.Do(request)
	})
	_, err = w.LikePost(w.Ctx(), ada, post.ID)
	w.OK(err)
}

// TestWithdrawnRelease provisions a release whose predecessor was withdrawn. The servers use the
// version before that one until they are replaced, however old it is.
func TestWithdrawnRelease(t *testing.T) {
	w := storetest.New(t)
	db := w.DB
	used := cosmos.Script{ID: "createLike-aaaaaaaaaaaa", Container: schema.Posts, Body: "function createLike() {}"}
	withdrawn := used
	withdrawn.ID = "createLike-bbbbbbbbbbbb"
	_, err := db.DeleteScript(w.Ctx(), schema.CreateLike) // this release is the third one
	w.OK(err)
	for _, script := range []cosmos.Script{used, withdrawn} {
		w.Clock.Advance(40 * 24 * time.Hour)
		_, err := db.RegisterScript(w.Ctx(), script)
		w.OK(err)
	}
	w.Clock.Advance(40 * 24 * time.Hour)
	done, err := provision.Run(w.Ctx(), db, provision.Options{})
	if want := []string{"created the " + schema.CreateLike.Label()}; err != nil || !slices.Equal(done, want) {
		t.Errorf("provision did %q, %v", done, err)
	}
}

// TestFormerScripts provisions with each of 60 releases, four days apart, of which each has another
// version of createLike. None finds the container full (at most 100 stored procedures), and servers
// of the releases of the last 30 days find their versions.
func TestFormerScripts(t *testing.T) {
	clock := cosmostest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	account := cosmostest.New(t, cosmostest.Options{Now: clock.Now})
	options := cosmos.Options{
		Endpoint: inprocess.NewEndpoint(), Key: account.Key(), Transport: inprocess.To(account), Now: clock.Now,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := provision.Run(t.Context(), db, provision.Options{}); err != nil {
		t.Fatal(err)
	}
	release := func(n int) cosmos.Script {
		return cosmos.Script{ID: fmt.Sprintf("createLike-%012x", n), Container: schema.Posts, Body: "function createLike() {}"}
	}
	stranger := cosmos.Script{ID: "theirs-000000000001", Container: schema.Posts, Body: "function theirs() {}"}
	for _, s := range []cosmos.Script{stranger, {ID: "createLike-mine", Container: schema.Posts, Body: "function f() {}"}} {
		if _, err := db.RegisterScript(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	const releases = 120
	deleted := 0
	for n := range releases {
		clock.Advance(4 * 24 * time.Hour)
		if _, err := db.RegisterScript(t.Context(), release(n)); err != nil {
			t.Fatalf("release %d: %v", n, err)
		}
		done, err := provision.Run(t.Context(), db, provision.Options{KeepScripts: n < 20})
		if err != nil || n < 20 && len(done) > 0 {
			t.Fatalf("release %d: %q, %v", n, done, err)
		}
		deleted += len(done)
	}
	registered, err := db.ListScripts(t.Context(), schema.CreateLike)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, s := range registered {
		left = append(left, s.ID)
	}
	for n := range releases {
		isLeft := slices.Contains(left, release(n).ID)
		successorAge := time.Duration(releases-3-n) * 4 * 24 * time.Hour // of the second one after it
		if isLeft != (successorAge <= 30*24*time.Hour) {
			t.Errorf("release %d is left: %t", n, isLeft)
		}
	}
	for _, s := range []string{stranger.ID, "createLike-mine", schema.CreateLike.ID} {
		if !slices.Contains(left, s) {
			t.Errorf("%s was deleted", s)
		}
	}
	if kept := releases - deleted; kept != 10 {
		t.Errorf("%d releases are left", kept)
	}
}
