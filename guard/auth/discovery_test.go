package auth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
)

func respond(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func documentOf(issuer, keys string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "jwks_uri": keys})
	}
}

// TestOrigins checks where pages may connect to sign people in. The issuer's document cannot name
// anything but an origin, because that is written into a header.
func TestOrigins(t *testing.T) {
	for tokens, want := range map[string]string{
		"":                                   "[https://login.example.com]",
		issuerName + "/token":                "[https://login.example.com]",
		"https://Token.example.com:8443/x":   "[https://login.example.com https://token.example.com:8443]",
		"http://token.example.com/":          "[https://login.example.com]",
		"http://127.0.0.1/":                  "[https://login.example.com]",
		"https://x;script-src/":              "[https://login.example.com]",
		"https://x,y/":                       "[https://login.example.com]",
		"https://'unsafe-inline'/":           "[https://login.example.com]",
		"https://x\n.example.com/":           "[https://login.example.com]",
		"https://token.example.com@evil.com": "[https://login.example.com https://evil.com]", // as browsers read it
	} {
		i := newIssuer(public("ed", edKeys()[0].Public()))
		i.answers[discoveryURL] = func(w http.ResponseWriter, _ *http.Request) {
			json.NewEncoder(w).Encode(map[string]string{"issuer": issuerName, "jwks_uri": keysURL, "token_endpoint": tokens})
		}
		withIssuer(t, i, func(v verifier) {
			if got := fmt.Sprint(v.issuer.Origins()); got != want {
				t.Errorf("%q: %s, want %s", tokens, got, want)
			}
		})
	}
}

func redirect(place string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, place, http.StatusFound) }
}

// TestMaliciousIssuer checks that no document makes the verifier trust other keys or send
// requests to other hosts.
func TestMaliciousIssuer(t *testing.T) {
	const evil = "https://evil.example/"
	for name, c := range map[string]struct {
		url    string
		answer http.HandlerFunc
		logs   string
	}{
		"another issuer":             {discoveryURL, documentOf("https://evil.example", keysURL), "belongs to another issuer"},
		"issuer with a slash":        {discoveryURL, documentOf(issuerName+"/", keysURL), "belongs to another issuer"},
		"no issuer":                  {discoveryURL, respond(`{}`), "belongs to another issuer"},
		"HTML":                       {discoveryURL, respond(`<html>`), "invalid character"},
		"not found":                  {discoveryURL, http.NotFound, "404"},
		"too large":                  {discoveryURL, respond(strings.Repeat(" ", 1<<20) + "{}"), "longer than 1 MiB"},
		"a redirect":                 {discoveryURL, redirect(evil), "redirects to another host"},
		"a redirect without TLS":     {discoveryURL, redirect("http://login.example.com/"), "redirects to another host"},
		"a redirect to another port": {discoveryURL, redirect("https://login.example.com:8443/"), "redirects to another host"},
		"a redirect loop":            {discoveryURL, redirect(discoveryURL), "redirects too often"},
		"keys without TLS":           {discoveryURL, documentOf(issuerName, "http://keys.example.com/jwks"), "not an https URL"},
		"keys on loopback":           {discoveryURL, documentOf(issuerName, "http://127.0.0.1:8080/"), "not an https URL"},
		"keys in a file":             {discoveryURL, documentOf(issuerName, "file:///etc/passwd"), "not an https URL"},
		"no keys":                    {discoveryURL, documentOf(issuerName, ""), "not an https URL"},
		"a redirect of the keys":     {keysURL, redirect(evil), "redirects to another host"},
		"no key set":                 {keysURL, respond(`{"error": "later"}`), "no list of keys"},
		"keys that are not a list":   {keysURL, respond(`{"keys": {}}`), "cannot unmarshal"},
		"keys that are null":         {keysURL, respond(`null`), "no list of keys"},
		"keys in HTML":               {keysURL, respond(`<html>`), "invalid character"},
		"too many keys":              {keysURL, respond(`{"keys": [` + strings.Repeat("{},", 100) + `{}]}`), "more than 100"},
		"too many bytes":             {keysURL, respond(`{"keys": [` + strings.Repeat(" ", 1<<20) + `]}`), "longer than 1 MiB"},
		"keys unavailable":           {keysURL, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(public("ed", edKeys()[0].Public()))
			i.answers[c.url] = c.answer
			withIssuer(t, i, func(v verifier) {
				if !v.rejects(edToken(t, "ed", edKeys()[0]), blog.Internal, "cannot be verified now") {
					t.Error("the token is not rejected with INTERNAL")
				}
				if !strings.Contains(v.log.String(), c.logs) {
					t.Errorf("the log does not contain %q: %s", c.logs, v.log)
				}
				for url := range i.requests {
					if url != discoveryURL && url != keysURL {
						t.Errorf("the verifier sent a request to %s", url)
					}
				}
			})
		})
	}
}

func TestRedirectsOnTheSameHost(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	i.answers[discoveryURL] = redirect("/elsewhere")
	i.answers["https://login.example.com/elsewhere"] = documentOf(issuerName, keysURL)
	withIssuer(t, i, func(v verifier) {
		if !v.accepts(edToken(t, "ed", edKeys()[0])) {
			t.Error("the token is rejected")
		}
	})
}

// TestIssuerTurnsMalicious checks that an invalid document does not replace the last valid
// keys.
func TestIssuerTurnsMalicious(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		i.change(func(i *issuer) {
			i.answers[discoveryURL] = documentOf("https://evil.example", keysURL)
			i.keys = []map[string]any{public("ed", edKeys()[1].Public())}
		})
		advance(time.Hour)
		if !v.accepts(edToken(t, "ed", edKeys()[0])) || v.accepts(edToken(t, "ed", edKeys()[1])) {
			t.Error("the keys of the other issuer replaced the last keys")
		}
	})
}
