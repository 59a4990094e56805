package httpapi

import (
	"net/http"
	"strings"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/blog"
)

// authenticated puts the account of a request's token into its context. A request without an Authorization header is
// anonymous; one whose token does not verify is refused, queries too.
func (a *api) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Authorization")) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		account, err := a.verify(r)
		switch {
		case err == nil:
			next.ServeHTTP(w, r.WithContext(auth.WithAccount(r.Context(), account)))
		case blog.CodeOf(err) == blog.Unauthenticated:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`) // RFC 6750, section 3
			a.refuse(w, r, &refusal{status: http.StatusUnauthorized, err: err})
		default:
			a.refuse(w, r, &refusal{status: http.StatusInternalServerError, err: err})
		}
	})
}

func (a *api) verify(r *http.Request) (blog.Account, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if len(r.Header.Values("Authorization")) != 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return blog.Account{}, errNoBearer
	}
	return a.Verifier.Verify(r.Context(), token)
}

var errNoBearer = blog.Errorf(blog.Unauthenticated, "The header Authorization is there once and holds `Bearer` and a token; leave it out to read without signing in.")
