package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
)

// refusing is a verifier of a server whose issuer is down.
type refusing struct{}

func (refusing) Verify(context.Context, string) (blog.Account, error) {
	return blog.Account{}, &blog.Error{Code: blog.Internal, Message: "Nobody can tell.", RetryAfter: 1500 * time.Millisecond}
}

// Who cannot be told apart from somebody else is not sent to sign in again.
func TestTokensThatCannotBeChecked(t *testing.T) {
	s := newServer(t, func(o *httpapi.Options, _ *stubQuery) { o.Verifier = refusing{} })
	r := s.query("{viewer{username}}", "Authorization", "Bearer any")
	if r.Code != 503 || r.codes() != "INTERNAL" || r.Header().Get("Retry-After") != "2" || r.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("status %d, %v, %s", r.Code, r.Header(), r.Body)
	}
	if len(r.Errors) != 1 || r.Errors[0].Message != "Nobody can tell." || r.Errors[0].Extensions["retryAfterMs"] != 1500.0 {
		t.Errorf("errors: %v", r.Errors)
	}
	if r := s.query("{viewer{username}}"); r.Code != 200 {
		t.Errorf("without a token: status %d, %s", r.Code, r.Body)
	}
}

// RFC 6750, section 3: an error is named only where a token was shown.
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
			t.Errorf("%s comes back, or into the log: %s %s", authorization, r.Body, s.log)
		}
	}
}
