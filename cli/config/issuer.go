package config

import (
	"errors"
	"fmt"
	"strings"

	"cosmosblog/internal/loopback"
)

func (c *Config) checkIssuer() error {
	switch {
	case c.Issuer == "" && c.Audience != "":
		return errors.New("--audience applies to the tokens of an issuer: set --issuer too")
	case c.Issuer == "":
		return nil
	case c.Audience == "":
		return errors.New("--issuer needs an --audience: without one, the server would accept tokens " +
			"that the issuer made for other services")
	}
	return checkIssuerURL(c.Issuer)
}

func checkIssuerURL(text string) error {
	issuer, ok := parseHTTP(text)
	switch {
	case !ok:
		return fmt.Errorf("--issuer must be a URL like https://login.example.com, not %q", text)
	case issuer.User != nil, strings.ContainsAny(text, "?#"):
		return errors.New("--issuer must have no user, query or fragment")
	case issuer.Scheme == "http" && !loopback.Is(issuer.Host):
		return fmt.Errorf("--issuer is %s, and anyone on the network could replace keys sent over http: "+
			"use https (http is allowed on loopback only)", text)
	}
	return nil
}

// checkLocal rejects the request for a local token if servers with the same environment reject
// it.
func (c *Config) checkLocal() error {
	if c.Issuer != "" {
		return fmt.Errorf("COSMOSBLOG_ISSUER is %s: a server with an issuer accepts only that issuer's tokens, "+
			"so get a token there (local tokens are for servers without an issuer)", c.Issuer)
	}
	return nil
}
