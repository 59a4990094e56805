package api_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"cosmosblog/api"
	"cosmosblog/blog"
)

// unavailableVerifier is the verifier of a server whose token issuer is down.
type unavailableVerifier struct{}

func (unavailableVerifier) Verify(context.Context, string) (blog.Account, error) {
	return blog.Account{}, &blog.Error{Code: blog.Internal, Message: "The issuer is down.", RetryAfter: 1500 * time.Millisecond}
}

// TestTokensThatCannotBeChecked checks that clients are not asked to sign in again if the issuer
// is down.
func TestTokensThatCannotBeChecked(t *testing.T) {
	s := newServer(t, func(o *api.Options, _ *stubQuery) { o.Verifier = unavailableVerifier{} })
	r := s.query("{viewer{username}}", "Authorization", "Bearer any")
	if r.Code != 503 || r.codes() != "INTERNAL" || r.Header().Get("Retry-After") != "2" || r.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("status %d, %v, %s", r.Code, r.Header(), r.Body)
	}
	if len(r.Errors) != 1 || r.Errors[0].Message != "The issuer is down." || r.Errors[0].Extensions["retryAfterMs"] != 1500.0 || r.Errors[0].Extensions["errorId"] == nil {
		t.Errorf("errors: %v", r.Errors)
	}
	if r := s.query("{viewer{username}}"); r.Code != 200 {
		t.Errorf("without a token: status %d, %s", r.Code, r.Body)
	}
}

// TestChallenge checks that the challenge names an error only if a token was sent (RFC 6750,
// section 3).
func TestChallenge(t *testing.T) {
	s := newServer(t, nil)
	for authorization, want := range map[string]string{
		"Bearer S3CRET": `Bearer realm="cosmosblog", error="invalid_token"`,
		"Bearer":        `Bearer realm="cosmosblog"`,
		"Basic S3CRET":  `Bearer realm="cosmosblog"`,
	} {
		r := s.query("{viewer{username}}", "Authorization", authorization)
		if got := r.Header().Get("WWW-Authenticate"); got != want {
			t.Errorf("%s: got %s", authorization, got)
		}
		if strings.Contains(r.Body.String()+s.log.String(), "S3CRET") {
			t.Errorf("%s is repeated in the response or the log: %s %s", authorization, r.Body, s.log)
		}
	}
}

// A WebSocket is closed with 4403 only because of its token. If that could not be checked, the
// client can connect again with the same one.
func TestTokensOnWebSocket(t *testing.T) {
	listening := httptest.NewServer(newServer(t, nil).handler)
	defer listening.Close()
	for token, code := range map[string]websocket.StatusCode{"bad": 4403, "unreachable": websocket.StatusTryAgainLater} {
		options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}
		socket, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(listening.URL, "http")+"/graphql", options)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.CloseNow()
		init := `{"type": "connection_init", "payload": {"Authorization": "Bearer ` + token + `"}}`
		if err := socket.Write(t.Context(), websocket.MessageText, []byte(init)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != code {
			t.Errorf("%s: %v, want %d", token, err, code)
		}
	}
}
