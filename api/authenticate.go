package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/request"
)

// authenticate finds out the account of a request by its token. A request without an Authorization
// header is anonymous. An empty one counts as absent, and is removed: Apollo Client's documentation
// sends it when nobody is signed in. A request with an invalid token is rejected, even if it only
// reads.
func (a *api) authenticate(r *http.Request) (*http.Request, *rejection) {
	if sent := r.Header["Authorization"]; slices.ContainsFunc(sent, isBlank) {
		r.Header["Authorization"] = slices.DeleteFunc(sent, isBlank)
	}
	if len(r.Header.Values("Authorization")) == 0 {
		return r, nil
	}
	account, err := a.verify(r)
	if err != nil {
		return r, tokenRejection(err)
	}
	ctx := request.With(r.Context(), func(q *request.Request) { q.Account = &account })
	if isWebSocket(r) {
		token, _ := bearerToken(r.Header.Get("Authorization"))
		ctx = withArrival(ctx, func(a *arrival) { a.expires = auth.ExpiryOf(token) })
	}
	return r.WithContext(ctx), nil
}

// verify returns the account of the request's bearer token. Errors: errNoBearer if the header is
// not exactly one bearer token, and those of the verifier.
func (a *api) verify(r *http.Request) (blog.Account, error) {
	token, ok := bearerToken(r.Header.Get("Authorization"))
	if len(r.Header.Values("Authorization")) != 1 || !ok {
		return blog.Account{}, errNoBearer
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Limits.Time)
	defer cancel()
	return a.Verifier.Verify(ctx, token)
}

// isBlank reports whether an authorization says nothing.
func isBlank(authorization string) bool { return strings.TrimSpace(authorization) == "" }

// bearerToken returns the token of an Authorization header.
func bearerToken(authorization string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

var errNoBearer = blog.Errorf(blog.Unauthenticated, "Send exactly one Authorization header with `Bearer` and a token. "+
	"To read without signing in, omit the header.")
