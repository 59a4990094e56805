package cosmos_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// TestConnections checks the errors of executions whose server is gone, and of those whose server
// goes before it answers: whether they may have been executed.
func TestConnections(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer server.Close()
	db, err := cosmos.New(cosmos.Options{Endpoint: server.URL, Key: "a2V5", Transport: server.Client(),
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	check := func(what string, executed bool) {
		t.Helper()
		ctx, _ := cosmos.Metered(t.Context())
		_, err := db.Execute(ctx, echo, "p", 1, nil)
		if blog.CodeOf(err) != blog.Unavailable || blog.RetryAfterOf(err) == 0 {
			t.Errorf("%s: %v", what, err)
		}
		if got := cosmos.MayHaveWritten(ctx); got != executed {
			t.Errorf("%s: MayHaveWritten is %t", what, got)
		}
	}
	check("a server that closes connections", true)
	server.Close()
	check("a server that is gone", false)
}
