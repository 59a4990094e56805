package config_test

import (
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/config"
)

func TestDefaultsAreAllowed(t *testing.T) {
	for _, command := range []string{config.Serve, config.Projector, config.Provision, config.Engine} {
		c := config.Default(command)
		if err := c.Check(command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	if c := config.Default(config.Serve); !c.Development() || !c.Projector {
		t.Errorf("serve starts as %+v", c)
	}
}

// ownKey is a key of 32 bytes, in base64.
var ownKey = strings.Repeat("abcd", 10) + "abc="

func TestCheck(t *testing.T) {
	with := func(command string, change func(*config.Config)) error {
		c := config.Default(command)
		change(&c)
		return c.Check(command)
	}
	for name, c := range map[string]struct {
		command string
		change  func(*config.Config)
		says    string // nothing where it is allowed
	}{
		"localhost":               {config.Serve, func(c *config.Config) { c.Addr = "localhost:0" }, ""},
		"IPv6 loopback":           {config.Serve, func(c *config.Config) { c.Addr = "[::1]:8080" }, ""},
		"all interfaces":          {config.Serve, func(c *config.Config) { c.Addr = ":8080" }, "add --production"},
		"a name":                  {config.Serve, func(c *config.Config) { c.Addr = "blog.example.com:80" }, "add --production"},
		"a look-alike":            {config.Serve, func(c *config.Config) { c.Addr = "127.0.0.1.example.com:80" }, "add --production"},
		"production everywhere":   {config.Serve, func(c *config.Config) { c.Addr, c.Production = "0.0.0.0:8080", true }, ""},
		"no port":                 {config.Serve, func(c *config.Config) { c.Addr = "127.0.0.1" }, "not an address"},
		"no folder":               {config.Serve, func(c *config.Config) { c.Data = "" }, "no folder"},
		"https endpoint":          {config.Serve, func(c *config.Config) { c.Endpoint = "https://a.documents.azure.com:443/" }, ""},
		"http endpoint, a key":    {config.Projector, func(c *config.Config) { c.Endpoint, c.Key = "http://127.0.0.1:8081", config.EmulatorKey }, ""},
		"connection string":       {config.Serve, func(c *config.Config) { c.Endpoint = "AccountEndpoint=https://a/;AccountKey=b" }, "COSMOS_ENDPOINT"},
		"endpoint with a path":    {config.Provision, func(c *config.Config) { c.Endpoint = "https://a/dbs" }, "leave out"},
		"endpoint with a user":    {config.Provision, func(c *config.Config) { c.Endpoint = "https://me@a" }, "leave out"},
		"a key that is none":      {config.Serve, func(c *config.Config) { c.Endpoint, c.Key = "https://a", "secret" }, "not base64"},
		"no database":             {config.Serve, func(c *config.Config) { c.Endpoint, c.Database = "https://a", "" }, "no database"},
		"well-known key abroad":   {config.Engine, func(c *config.Config) { c.Addr = "0.0.0.0:8081" }, "a key of your own"},
		"well-known key and line": {config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", config.EmulatorKey+"\n" }, "a key of your own"},
		"own key abroad":          {config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", ownKey }, ""},
		"short key":               {config.Engine, func(c *config.Config) { c.EngineKey = "c2VjcmV0" }, ""},
		"short key abroad":        {config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", "c2VjcmV0" }, "--key has 6 bytes"},
		"no key":                  {config.Engine, func(c *config.Config) { c.EngineKey = "" }, "--key is empty"},
		"no key but a line":       {config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", "\n" }, "--key is empty"},
		"a key in hexadecimals":   {config.Engine, func(c *config.Config) { c.EngineKey = "00:11" }, "--key is not base64"},
		"tokens abroad":           {config.Engine, func(c *config.Config) { c.Addr, c.EngineKey, c.EngineEntra = "0.0.0.0:8081", ownKey, true }, "with --entra anybody may come"},
		"tokens here":             {config.Engine, func(c *config.Config) { c.EngineEntra = true }, ""},
		"a throughput":            {config.Provision, func(c *config.Config) { c.Endpoint, c.Throughput = "https://a", "manual:400" }, ""},
		"of a folder":             {config.Provision, func(c *config.Config) { c.Throughput = "manual:400" }, "for an account"},
		"of a template":           {config.Provision, func(c *config.Config) { c.Print, c.Throughput = "bicep", "manual:400" }, ""},
		"another template":        {config.Provision, func(c *config.Config) { c.Print = "terraform" }, "--print knows bicep"},
		"nobody":                  {config.Token, func(*config.Config) {}, "--sub"},
		"somebody":                {config.Token, func(c *config.Config) { c.Subject = "anna" }, ""},
		"projector that listens":  {config.Projector, func(c *config.Config) { c.Addr = "nowhere" }, "not an address"},
		"a data set":              {config.Seed, func(c *config.Config) { c.Users, c.Seed = 1, 0 }, ""},
		"everybody in a data set": {config.Seed, func(c *config.Config) { c.Users = 99999999999 }, "--users is from 1 to 1000000"},
		"nobody in a data set":    {config.Seed, func(c *config.Config) { c.Users = 0 }, "--users is from 1 to 1000000"},
		"leases in haste":         {config.Projector, func(c *config.Config) { c.LeaseRenew, c.LeaseExpire = 200*time.Millisecond, time.Second }, ""},
		"leases without a pause":  {config.Projector, func(c *config.Config) { c.LeaseRenew = 0 }, "100ms at least"},
		"leases left unwatched":   {config.Serve, func(c *config.Config) { c.LeaseBalance = -time.Second }, "100ms at least"},
		"leases that expire":      {config.Serve, func(c *config.Config) { c.LeaseRenew = 10 * time.Second }, "--lease-expire (20s) must be more than twice --lease-renew (10s)"},
		"metrics nowhere":         {config.Serve, func(c *config.Config) { c.MetricsAddr = "nowhere" }, "--metrics-addr is not an address"},
		"metrics for all":         {config.Serve, func(c *config.Config) { c.MetricsAddr = ":9090" }, ""},
		"a lag of no limit":       {config.Serve, func(c *config.Config) { c.ReadyLag = 0 }, ""},
		"a negative lag":          {config.Projector, func(c *config.Config) { c.ReadyLag = -1 }, "--ready-lag is not negative"},
		"an audit":                {config.Audit, func(c *config.Config) { c.MaxRU = 1 }, ""},
		"an audit for nothing":    {config.Audit, func(c *config.Config) { c.MaxRU = -1 }, "--max-ru is not negative"},
		"a quiet log":             {config.Projector, func(c *config.Config) { c.LogLevel = "error" }, ""},
		"a level that is none":    {config.Serve, func(c *config.Config) { c.LogLevel = "loud" }, "--log-level is debug, info, warn or error"},
		"traces":                  {config.Serve, func(c *config.Config) { c.TracesEndpoint = "https://otlp.example.com/v1" }, ""},
		"traces nowhere":          {config.Serve, func(c *config.Config) { c.TracesEndpoint = "localhost:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT is not an address"},
		"unknown command":         {"fly", func(*config.Config) {}, "no command"},
	} {
		err := with(c.command, c.change)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCheckGivesAllFaults(t *testing.T) {
	c := config.Default(config.Serve)
	c.Endpoint, c.Addr = "ftp://a", ":80"
	if err := c.Check(config.Serve); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestCheckHidesTheKey(t *testing.T) {
	c := config.Default(config.Serve)
	c.Endpoint, c.Key = "https://a", "s3cr-t"
	if err := c.Check(config.Serve); err == nil || strings.Contains(err.Error(), c.Key) {
		t.Errorf("got %v", err)
	}
}

func TestFromEnvironment(t *testing.T) {
	env := map[string]string{
		"COSMOSBLOG_ADDR": "127.0.0.1:1", "COSMOSBLOG_DATA": "", "COSMOSBLOG_PROJECTOR": "0", "COSMOS_DATABASE": "other",
		"COSMOSBLOG_ENGINE_ADDR": "127.0.0.1:2", "": "nothing", "COSMOSBLOG_LEASE_EXPIRE": "1m30s",
	}
	lookup := func(name string) (string, bool) { text, ok := env[name]; return text, ok }
	c := config.Default(config.Serve)
	c.Database = "mine"
	if err := config.FromEnvironment(&c, config.Serve, lookup, func(flag string) bool { return flag == "database" }); err != nil {
		t.Fatal(err)
	}
	want := config.Default(config.Serve)
	want.Addr, want.Projector, want.Database = "127.0.0.1:1", false, "mine"
	want.LeaseExpire = 90 * time.Second
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	for name, text := range map[string]string{"COSMOSBLOG_PROJECTOR": "perhaps", "COSMOSBLOG_LEASE_RENEW": "5"} {
		env := map[string]string{name: text}
		lookup := func(name string) (string, bool) { text, ok := env[name]; return text, ok }
		if err := config.FromEnvironment(&c, config.Serve, lookup, func(string) bool { return false }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	}
}
