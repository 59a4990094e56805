package cli

import (
	"context"
	"io"
	"net/http"
	"testing"

	"cosmosblog/cli/datafolder"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// rebuilderWorld is a database whose views are rebuilt for a projector.
type rebuilderWorld struct {
	*storetest.World
	rebuild func(ctx context.Context, history string) error
}

func newRebuilderWorld(t *testing.T) *rebuilderWorld {
	w := &rebuilderWorld{World: storetest.New(t)}
	post := w.AddPost(w.AddUser("Ada"))
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	w.rebuild = rebuilder(quiet(io.Discard), &datafolder.Database{DB: w.DB})
	return w
}

// interrupt calls a rebuild whose context ends when the post is done.
func (w *rebuilderWorld) interrupt(rebuild func(context.Context) error) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.Ctx())
	defer cancel()
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		if target.Container == schema.Usernames && target.Operation == cosmos.OperationRead {
			cancel()
		}
		return next.Do(request)
	})
	defer w.Wire.Inject(nil)
	if err := rebuild(ctx); err == nil {
		w.T.Fatal("the rebuild was not interrupted")
	}
}

// rebuildsPost reports whether a rebuild compares the post again.
func (w *rebuilderWorld) rebuildsPost(history string) (isCompared bool) {
	w.T.Helper()
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		if target.Container == schema.Users && target.Operation == cosmos.OperationRead { // the post's copy
			isCompared = true
		}
		return next.Do(request)
	})
	defer w.Wire.Inject(nil)
	w.OK(w.rebuild(w.Ctx(), history))
	return isCompared
}

// TestRebuilder resumes only a rebuild of its own, and only in the same history: what came before
// may be from before the projectors read their feeds in that history.
func TestRebuilder(t *testing.T) {
	w := newRebuilderWorld(t)
	w.interrupt(func(ctx context.Context) error {
		_, err := audit.Rebuild(ctx, w.DB, audit.Options{})
		return err
	})
	if !w.rebuildsPost("a") {
		t.Error("the rebuild of another process was resumed")
	}
	interrupt := func() { w.interrupt(func(ctx context.Context) error { return w.rebuild(ctx, "a") }) }
	interrupt()
	if w.rebuildsPost("a") {
		t.Error("its own rebuild was not resumed")
	}
	if !w.rebuildsPost("a") {
		t.Error("a rebuild that was done was resumed")
	}
	interrupt()
	if !w.rebuildsPost("b") {
		t.Error("a rebuild of another history was resumed")
	}
}
