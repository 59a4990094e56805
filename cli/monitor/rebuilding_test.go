package monitor

import (
	"net/http"
	"slices"
	"testing"

	"cosmosblog/store/changefeed"
)

// While the views are rebuilt because the database went back, a process that only runs a projector
// is not ready. A server is, because it answers.
func TestProcessesDuringARebuild(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	p := newProjector(t, b.store, b.engine)
	alone, server := observeAs(t, b, p, false), observe(t, b, p)
	defer alone.project(p)()
	isReady := func(o *observed) bool { status, _ := o.readyz(); return status == http.StatusOK }
	alone.until(func() bool { return isReady(alone) && isReady(server) })
	alone.createPost(alone.createUser("Ada"))

	feeds := changefeed.New(b.store.DB)
	history, err := feeds.EndHistory(t.Context(), "", "a test ended it")
	if err != nil {
		t.Fatal(err)
	}
	alone.until(func() bool {
		status, answer := alone.readyz()
		return status == http.StatusServiceUnavailable && slices.Equal(answer.Waiting, []string{"projector"}) && answer.Projector.Rebuilds == "a test ended it"
	})
	if status, answer := server.readyz(); status != http.StatusOK || answer.Projector.Rebuilds != "a test ended it" {
		t.Errorf("the server's readiness is %d, %+v", status, answer)
	}
	const metric = "cosmosblog_projector_rebuilding"
	if got := alone.value(alone.metrics(), metric); got != 1 {
		t.Errorf("%s is %v", metric, got)
	}

	if err := feeds.NoteRebuilt(t.Context(), history.Name); err != nil {
		t.Fatal(err)
	}
	alone.until(func() bool { return isReady(alone) })
	if got := alone.value(alone.metrics(), metric); got != 0 {
		t.Errorf("%s is %v", metric, got)
	}
}
