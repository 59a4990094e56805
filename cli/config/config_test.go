package config_test

import (
	"strings"
	"testing"
	"time"

	"cosmosblog/cli/config"
)

func TestDefaultsAreValid(t *testing.T) {
	for _, command := range []string{config.Serve, config.Projector, config.Provision, config.Engine} {
		c := config.Default(command)
		if err := c.Check(command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	if c := config.Default(config.Serve); !c.Development() || !c.Projector {
		t.Errorf("serve does not start in development with the projector: %+v", c)
	}
}

// ownKey is a key of 32 bytes, in base64.
var ownKey = strings.Repeat("abcd", 10) + "abc="

// checkCases are settings of commands, and parts of their errors.
var checkCases = map[string]struct {
	command string
	change  func(*config.Config)
	want    string // part of the error; empty if the settings are valid
}{
	"localhost": {
		config.Serve, func(c *config.Config) { c.Addr = "localhost:0" },
		"",
	},
	"IPv6 loopback": {
		config.Serve, func(c *config.Config) { c.Addr = "[::1]:8080" },
		"",
	},
	"all interfaces": {
		config.Serve, func(c *config.Config) { c.Addr = ":8080" },
		"add --production",
	},
	"a host name": {
		config.Serve, func(c *config.Config) { c.Addr = "blog.example.com:80" },
		"add --production",
	},
	"a host name like loopback": {
		config.Serve, func(c *config.Config) { c.Addr = "127.0.0.1.example.com:80" },
		"add --production",
	},
	"production on all interfaces": {
		config.Serve, func(c *config.Config) { c.Addr, c.Production = "0.0.0.0:8080", true },
		"",
	},
	"no port": {
		config.Serve, func(c *config.Config) { c.Addr = "127.0.0.1" },
		"must be an address",
	},
	"no data folder": {
		config.Serve, func(c *config.Config) { c.Data = "" },
		"--data must name a folder",
	},
	"https endpoint": {
		config.Serve, func(c *config.Config) { c.Endpoint = "https://a.documents.azure.com:443/" },
		"",
	},
	"http endpoint, a key": {
		config.Projector, func(c *config.Config) { c.Endpoint, c.Key = "http://127.0.0.1:8081", config.EmulatorKey },
		"",
	},
	"connection string": {
		config.Serve, func(c *config.Config) { c.Endpoint = "AccountEndpoint=https://a/;AccountKey=b" },
		"COSMOS_ENDPOINT",
	},
	"endpoint with a path": {
		config.Provision, func(c *config.Config) { c.Endpoint = "https://a/dbs" },
		"must have no user, path or query",
	},
	"endpoint with a user": {
		config.Provision, func(c *config.Config) { c.Endpoint = "https://me@a" },
		"must have no user, path or query",
	},
	"a key and its file": {
		config.Serve, func(c *config.Config) {
			c.Endpoint, c.Key, c.KeyFile = "https://a", config.EmulatorKey, "/run/secrets/key"
		},
		"set only one of them",
	},
	"an invalid key": {
		config.Serve, func(c *config.Config) { c.Endpoint, c.Key = "https://a", "secret" },
		"not base64",
	},
	"no database": {
		config.Serve, func(c *config.Config) { c.Endpoint, c.Database = "https://a", "" },
		"must name a database",
	},
	"emulators' key for other machines": {
		config.Engine, func(c *config.Config) { c.Addr = "0.0.0.0:8081" },
		"a key of your own",
	},
	"emulators' key with a line end": {
		config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", config.EmulatorKey+"\n" },
		"a key of your own",
	},
	"own key for other machines": {
		config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", ownKey },
		"",
	},
	"short key": {
		config.Engine, func(c *config.Config) { c.EngineKey = "c2VjcmV0" },
		"",
	},
	"short key for other machines": {
		config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", "c2VjcmV0" },
		"--key has 6 bytes",
	},
	"no key": {
		config.Engine, func(c *config.Config) { c.EngineKey = "" },
		"--key is empty",
	},
	"only a line end as key": {
		config.Engine, func(c *config.Config) { c.Addr, c.EngineKey = "0.0.0.0:8081", "\n" },
		"--key is empty",
	},
	"a hexadecimal key": {
		config.Engine, func(c *config.Config) { c.EngineKey = "00:11" },
		"--key is not base64",
	},
	"throughput of the engine": {
		config.Engine, func(c *config.Config) { c.EngineRU = 400 },
		"",
	},
	"negative throughput of the engine": {
		config.Engine, func(c *config.Config) { c.EngineRU = -1 },
		"--throughput must be a number of RU/s",
	},
	"throughput of an account": {
		config.Provision, func(c *config.Config) { c.Endpoint, c.Throughput = "https://a", "manual:400" },
		"",
	},
	"throughput of a folder": {
		config.Provision, func(c *config.Config) { c.Throughput = "manual:400" },
		"applies to accounts",
	},
	"kept scripts of an account": {
		config.Provision, func(c *config.Config) { c.Endpoint, c.Scripts = "https://a", "keep" },
		"",
	},
	"kept scripts of a folder": {
		config.Provision, func(c *config.Config) { c.Scripts = "keep" },
		"--scripts keep applies to accounts",
	},
	"recreated scripts of a folder": {
		config.Provision, func(c *config.Config) { c.Scripts = "recreate" },
		"",
	},
	"another word for scripts": {
		config.Provision, func(c *config.Config) { c.Endpoint, c.Scripts = "https://a", "delete" },
		`--scripts must be keep or recreate, not "delete"`,
	},
	"throughput of a template": {
		config.Provision, func(c *config.Config) { c.Print, c.Throughput = "bicep", "manual:400" },
		"",
	},
	"an unknown template": {
		config.Provision, func(c *config.Config) { c.Print = "terraform" },
		"--print must be bicep",
	},
	"no subject": {
		config.Token, func(*config.Config) {},
		"--sub",
	},
	"a subject": {
		config.Token, func(c *config.Config) { c.Subject = "anna" },
		"",
	},
	"projector with an invalid address": {
		config.Projector, func(c *config.Config) { c.Addr = "nowhere" },
		"must be an address",
	},
	"smallest data set": {
		config.Seed, func(c *config.Config) { c.Users, c.Seed = 1, 0 },
		"",
	},
	"too many users": {
		config.Seed, func(c *config.Config) { c.Users = 99999999999 },
		"--users must be from 1 to 1000000",
	},
	"no users": {
		config.Seed, func(c *config.Config) { c.Users = 0 },
		"--users must be from 1 to 1000000",
	},
	"shortest lease periods": {
		config.Projector, func(c *config.Config) { c.LeaseExpire = 400 * time.Millisecond },
		"",
	},
	"too short lease periods": {
		config.Projector, func(c *config.Config) { c.LeaseExpire = 399 * time.Millisecond },
		"--lease-expire must be at least 400ms",
	},
	"negative expiry": {
		config.Serve, func(c *config.Config) { c.LeaseExpire = -time.Second },
		"--lease-expire must be at least 400ms",
	},
	"short expiry of a data set's leases": {
		config.Seed, func(c *config.Config) { c.LeaseExpire = 400 * time.Millisecond },
		"",
	},
	"no expiry of an audit's leases": {
		config.Audit, func(c *config.Config) { c.LeaseExpire = 0 },
		"--lease-expire must be at least 400ms",
	},
	"invalid metrics address": {
		config.Serve, func(c *config.Config) { c.MetricsAddr = "nowhere" },
		"--metrics-addr must be an address",
	},
	"metrics on all interfaces": {
		config.Serve, func(c *config.Config) { c.MetricsAddr = ":9090" },
		"",
	},
	"audit with a limit": {
		config.Audit, func(c *config.Config) { c.MaxRU = 1 },
		"",
	},
	"negative limit of an audit": {
		config.Audit, func(c *config.Config) { c.MaxRU = -1 },
		"--max-ru must not be negative",
	},
	"log level": {
		config.Projector, func(c *config.Config) { c.LogLevel = "error" },
		"",
	},
	"unknown log level": {
		config.Serve, func(c *config.Config) { c.LogLevel = "loud" },
		"--log-level must be debug, info, warn or error",
	},
	"traces": {
		config.Serve, func(c *config.Config) { c.TracesEndpoint = "https://otlp.example.com/v1" },
		"",
	},
	"invalid collector": {
		config.Serve, func(c *config.Config) { c.TracesEndpoint = "localhost:4318" },
		"OTEL_EXPORTER_OTLP_ENDPOINT must be a URL",
	},
	"shortest public age": {
		config.Serve, func(c *config.Config) { c.PublicMaxAge = time.Second },
		"",
	},
	"longest public age": {
		config.Serve, func(c *config.Config) { c.PublicMaxAge = 24 * time.Hour },
		"",
	},
	"too short public age": {
		config.Serve, func(c *config.Config) { c.PublicMaxAge = 999 * time.Millisecond },
		"--public-max-age must be 0s, or whole seconds from 1s to 24h0m0s",
	},
	"too long public age": {
		config.Serve, func(c *config.Config) { c.PublicMaxAge = 24*time.Hour + time.Second },
		"--public-max-age must be 0s",
	},
	"negative public age": {
		config.Serve, func(c *config.Config) { c.PublicMaxAge = -time.Second },
		"--public-max-age must be 0s",
	},
	"public age with a fraction of a second": {
		config.Serve, func(c *config.Config) { c.PublicMaxAge = 1500 * time.Millisecond },
		"--public-max-age must be 0s",
	},
	"unknown command": {"fly", func(*config.Config) {}, "unknown command"},
}

func TestCheck(t *testing.T) {
	for name, c := range checkCases {
		settings := config.Default(c.command)
		c.change(&settings)
		wantError(t, name, settings.Check(c.command), c.want)
	}
}

func TestCheckReturnsAllFaults(t *testing.T) {
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
	for name, text := range map[string]string{"COSMOSBLOG_PROJECTOR": "perhaps", "COSMOSBLOG_LEASE_EXPIRE": "5"} {
		env := map[string]string{name: text}
		lookup := func(name string) (string, bool) { text, ok := env[name]; return text, ok }
		if err := config.FromEnvironment(&c, config.Serve, lookup, func(string) bool { return false }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	}
}
