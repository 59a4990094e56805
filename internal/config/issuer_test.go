package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/config"
)

func TestCheckIssuer(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Config)
		says   string // nothing where it is allowed
	}{
		"https":                 {func(*config.Config) {}, ""},
		"everywhere":            {func(c *config.Config) { c.Addr = "0.0.0.0:8080" }, ""},
		"with a path":           {func(c *config.Config) { c.Issuer = "https://login.example.com/tenant/v2.0" }, ""},
		"http on loopback":      {func(c *config.Config) { c.Issuer = "http://127.0.0.1:9000" }, ""},
		"http elsewhere":        {func(c *config.Config) { c.Issuer = "http://login.example.com" }, "http is for loopback alone"},
		"http on a look-alike":  {func(c *config.Config) { c.Issuer = "http://127.0.0.1.example.com" }, "http is for loopback alone"},
		"no URL":                {func(c *config.Config) { c.Issuer = "login.example.com" }, "not a URL"},
		"another scheme":        {func(c *config.Config) { c.Issuer = "file:///etc/issuer" }, "not a URL"},
		"a user":                {func(c *config.Config) { c.Issuer = "https://me@login.example.com" }, "no user"},
		"a query":               {func(c *config.Config) { c.Issuer = "https://login.example.com?a=b" }, "no query"},
		"a fragment":            {func(c *config.Config) { c.Issuer = "https://login.example.com#a" }, "no fragment"},
		"an empty fragment":     {func(c *config.Config) { c.Issuer = "https://login.example.com#" }, "no fragment"},
		"for anybody":           {func(c *config.Config) { c.Audience = "" }, "--issuer needs an --audience"},
		"of nobody":             {func(c *config.Config) { c.Issuer = "" }, "name it with --issuer"},
		"algorithms":            {func(c *config.Config) { c.TokenAlgorithms = "ES512, RS256" }, ""},
		"no algorithm":          {func(c *config.Config) { c.TokenAlgorithms = "" }, "--token-algorithms"},
		"unsigned":              {func(c *config.Config) { c.TokenAlgorithms = "RS256,none" }, `"none"`},
		"a shared key":          {func(c *config.Config) { c.TokenAlgorithms = "HS256" }, `"HS256"`},
		"no skew":               {func(c *config.Config) { c.TokenSkew = 0 }, ""},
		"a clock far away":      {func(c *config.Config) { c.TokenSkew = time.Hour }, "--token-skew"},
		"a clock far behind it": {func(c *config.Config) { c.TokenSkew = -1 }, "--token-skew"},
	} {
		settings := config.Default(config.Serve)
		settings.Issuer, settings.Audience = "https://login.example.com", "cosmosblog"
		c.change(&settings)
		err := settings.Check(config.Serve)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnIssuerIsNoDevelopment(t *testing.T) {
	c := config.Default(config.Serve)
	if c.Issuer = "https://login.example.com"; c.Development() {
		t.Error("development, with an issuer")
	}
}

func TestAlgorithms(t *testing.T) {
	c := config.Config{TokenAlgorithms: "RS256, EdDSA"}
	if got := c.Algorithms(); !slices.Equal(got, []string{"RS256", "EdDSA"}) {
		t.Errorf("got %q", got)
	}
}

func TestNoLocalTokenWhereThereIsAnIssuer(t *testing.T) {
	c := config.Default(config.Token)
	c.Subject, c.Issuer = "anna", "https://login.example.com"
	if err := c.Check(config.Token); err == nil || !strings.Contains(err.Error(), "https://login.example.com") {
		t.Errorf("got %v", err)
	}
}
