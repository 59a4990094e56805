package httpapi

import (
	"context"
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
		if err != nil {
			a.refuse(w, r, unverified(err))
			return
		}
		next.ServeHTTP(w, r.WithContext(auth.WithAccount(r.Context(), account)))
	})
}

func (a *api) verify(r *http.Request) (blog.Account, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if len(r.Header.Values("Authorization")) != 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return blog.Account{}, errNoBearer
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Limits.Time)
	defer cancel()
	return a.Verifier.Verify(ctx, token)
}

var errNoBearer = blog.Errorf(blog.Unauthenticated, "The header Authorization is there once and holds `Bearer` and a token; leave it out to read without signing in.")
