package auth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
)

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func documentOf(issuer, keys string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "jwks_uri": keys})
	}
}

func redirect(place string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, place, http.StatusFound) }
}

// Nothing that the issuer's host says makes the keys of others good, or this server ask elsewhere.
func TestIssuerLies(t *testing.T) {
	const evil = "https://evil.example/"
	for name, c := range map[string]struct {
		place  string
		answer http.HandlerFunc
		logs   string
	}{
		"another issuer":                  {discoveryPlace, documentOf("https://evil.example", keysPlace), "of another issuer"},
		"nearly the issuer":               {discoveryPlace, documentOf(issuerName+"/", keysPlace), "of another issuer"},
		"nobody":                          {discoveryPlace, says(`{}`), "of another issuer"},
		"no JSON":                         {discoveryPlace, says(`<html>`), "invalid character"},
		"an error":                        {discoveryPlace, http.NotFound, "404"},
		"much":                            {discoveryPlace, says(strings.Repeat(" ", 1<<20) + "{}"), "longer than 1 MiB"},
		"a redirect":                      {discoveryPlace, redirect(evil), "redirects to another host"},
		"a redirect without TLS":          {discoveryPlace, redirect("http://login.example.com/"), "redirects to another host"},
		"a redirect to another port":      {discoveryPlace, redirect("https://login.example.com:8443/"), "redirects to another host"},
		"a circle":                        {discoveryPlace, redirect(discoveryPlace), "again and again"},
		"keys without TLS":                {discoveryPlace, documentOf(issuerName, "http://keys.example.com/jwks"), "no https URL"},
		"keys of this machine":            {discoveryPlace, documentOf(issuerName, "http://127.0.0.1:8080/"), "no https URL"},
		"keys in a file":                  {discoveryPlace, documentOf(issuerName, "file:///etc/passwd"), "no https URL"},
		"no keys":                         {discoveryPlace, documentOf(issuerName, ""), "no https URL"},
		"a redirect of the keys":          {keysPlace, redirect(evil), "redirects to another host"},
		"keys that are none":              {keysPlace, says(`{"error": "later"}`), "no list of keys"},
		"keys that are no list":           {keysPlace, says(`{"keys": {}}`), "cannot unmarshal"},
		"keys that are null":              {keysPlace, says(`null`), "no list of keys"},
		"keys in one line of HTML":        {keysPlace, says(`<html>`), "invalid character"},
		"more keys than anybody has":      {keysPlace, says(`{"keys": [` + strings.Repeat("{},", 100) + `{}]}`), "more than 100"},
		"more bytes than anybody has":     {keysPlace, says(`{"keys": [` + strings.Repeat(" ", 1<<20) + `]}`), "longer than 1 MiB"},
		"keys of a server that is broken": {keysPlace, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(public("ed", edKeys()[0].Public()))
			i.answers[c.place] = c.answer
			withIssuer(t, i, func(v verifier) {
				if !v.refuses(edToken(t, "ed", edKeys()[0]), blog.Internal, "cannot be checked at the moment") {
					t.Error("it is not refused, or not so")
				}
				if !strings.Contains(v.log.String(), c.logs) {
					t.Errorf("the log: %s", v.log)
				}
				for place := range i.requests {
					if place != discoveryPlace && place != keysPlace {
						t.Errorf("it asked %s", place)
					}
				}
			})
		})
	}
}

func TestRedirectsOnTheSameHost(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	i.answers[discoveryPlace] = redirect("/elsewhere")
	i.answers["https://login.example.com/elsewhere"] = documentOf(issuerName, keysPlace)
	withIssuer(t, i, func(v verifier) {
		if !v.takes(edToken(t, "ed", edKeys()[0])) {
			t.Error("not taken")
		}
	})
}

// What an issuer begins to say later takes nothing from the keys that it had.
func TestIssuerLiesLater(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		i.change(func(i *issuer) {
			i.answers[discoveryPlace] = documentOf("https://evil.example", keysPlace)
			i.keys = []map[string]any{public("ed", edKeys()[1].Public())}
		})
		after(time.Hour)
		if !v.takes(edToken(t, "ed", edKeys()[0])) || v.takes(edToken(t, "ed", edKeys()[1])) {
			t.Error("the keys are another issuer's")
		}
	})
}
