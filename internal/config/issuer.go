package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cosmosblog/internal/loopback"
)

// tokenAlgorithms are the signatures of tokens that can be allowed: asymmetric ones alone, so that what verifies a token
// never is enough to make one (RFC 7518, section 3.1, and RFC 8037).
var tokenAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Algorithms lists what TokenAlgorithms names.
func (c *Config) Algorithms() []string {
	names := strings.Split(c.TokenAlgorithms, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// mostTokenSkew is more than clocks differ that anybody sets, and less than most tokens live.
const mostTokenSkew = 5 * time.Minute

func (c *Config) checkIssuer() error {
	switch {
	case c.Issuer == "" && c.Audience != "":
		return errors.New("--audience is of the tokens of an issuer: name it with --issuer")
	case c.Issuer == "":
		return nil
	case c.Audience == "":
		return errors.New("--issuer needs an --audience: without one, tokens that the issuer made for others would be taken")
	case c.TokenSkew < 0 || c.TokenSkew > mostTokenSkew:
		return fmt.Errorf("--token-skew is from 0 to %v", mostTokenSkew)
	}
	return errors.Join(checkIssuerURL(c.Issuer), c.checkAlgorithms())
}

func checkIssuerURL(text string) error {
	issuer, ok := parseHTTP(text)
	switch {
	case !ok:
		return fmt.Errorf("--issuer is not a URL like https://login.example.com: %q", text)
	case issuer.User != nil, strings.ContainsAny(text, "?#"):
		return errors.New("--issuer has no user, no query and no fragment")
	case issuer.Scheme == "http" && !loopback.Is(issuer.Host):
		return fmt.Errorf("--issuer is %s: its keys would come over http, from whoever is on the way; http is for loopback alone", text)
	}
	return nil
}

func (c *Config) checkAlgorithms() error {
	for _, name := range c.Algorithms() {
		if !slices.Contains(tokenAlgorithms, name) {
			return fmt.Errorf("--token-algorithms has %q, and knows %s", name, strings.Join(tokenAlgorithms, ", "))
		}
	}
	return nil
}

// checkLocal refuses to make a local token that no server would take.
func (c *Config) checkLocal() error {
	if c.Issuer != "" {
		return fmt.Errorf("COSMOSBLOG_ISSUER is %s: a server with an issuer takes its tokens alone, so get one there; local tokens are for servers without", c.Issuer)
	}
	return nil
}
