package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"cosmosblog/internal/loopback"
)

// Check holds the settings of a command to their rules and gives all faults at once, a sentence each.
func (c *Config) Check(command string) error {
	switch command {
	case Serve:
		return errors.Join(c.checkDatabase(), c.checkDevelopment(), c.checkIssuer(), c.checkLeases(), checkOptionalAddress("--metrics-addr", c.MetricsAddr), c.checkReadyLag(), c.checkLogLevel(), c.checkTraces(), c.checkLimits(), c.checkNetwork())
	case Projector:
		return errors.Join(c.checkDatabase(), c.checkLeases(), checkOptionalAddress("--addr", c.Addr), c.checkReadyLag(), c.checkLogLevel())
	case Provision:
		return errors.Join(c.checkDatabase(), c.checkProvision())
	case Engine:
		return errors.Join(c.checkData(), c.checkEngine())
	case Token:
		return errors.Join(c.checkData(), c.checkSubject(), c.checkLocal())
	case Copy:
		return c.checkCopy()
	case Backup, Check:
		return c.checkData()
	case Remove, Deadletters:
		return c.checkDatabase()
	case Seed:
		return errors.Join(c.checkDatabase(), c.checkUsers())
	case Audit, Rebuild:
		return errors.Join(c.checkDatabase(), c.checkMaxRU())
	}
	return fmt.Errorf("there is no command %q", command)
}

// Development tells whether what belongs to development is on: the address is of loopback, and nobody asked for
// production or named an issuer.
func (c *Config) Development() bool { return !c.public() && loopback.Is(c.Addr) }

// public tells whether somebody asked for a server that is there for others.
func (c *Config) public() bool { return c.Production || c.Issuer != "" }

func (c *Config) checkData() error {
	if c.Data == "" {
		return errors.New("--data names no folder")
	}
	return nil
}

func (c *Config) checkDatabase() error {
	if c.Endpoint == "" {
		return c.checkData()
	}
	if err := checkEndpoint("COSMOS_ENDPOINT", c.Endpoint); err != nil {
		return err
	}
	if c.Database == "" {
		return errors.New("COSMOS_DATABASE names no database")
	}
	return checkKey("COSMOS_KEY", c.Key)
}

// parseHTTP reads an address of HTTP or HTTPS; false where it is none.
func parseHTTP(text string) (*url.URL, bool) {
	address, err := url.Parse(text)
	return address, err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Host != ""
}

func checkEndpoint(name, text string) error {
	endpoint, ok := parseHTTP(text)
	switch {
	case !ok:
		return fmt.Errorf("%s is not an address like https://my-account.documents.azure.com: %q", name, text)
	case endpoint.User != nil, endpoint.RawQuery != "", strings.Trim(endpoint.Path, "/") != "":
		return fmt.Errorf("%s is more than an address: leave out user, path and query", name)
	}
	return nil
}

// IsEndpoint tells an endpoint from a data folder.
func IsEndpoint(place string) bool { return strings.Contains(place, "://") }

func (c *Config) checkCopy() error {
	return errors.Join(checkPlace("from", c.From, c.FromDatabase, "COPY_FROM_KEY", c.FromKey),
		checkPlace("to", c.To, c.ToDatabase, "COPY_TO_KEY", c.ToKey))
}

// checkPlace checks one end of a copy.
func checkPlace(flag, place, database, keyName, key string) error {
	switch {
	case place == "":
		return fmt.Errorf("--%s names neither a data folder nor an endpoint", flag)
	case database == "":
		return fmt.Errorf("--%s-database names no database", flag)
	case !IsEndpoint(place):
		return nil
	}
	return errors.Join(checkEndpoint("--"+flag, place), checkKey(keyName, key))
}

func checkKey(name, key string) error {
	if _, err := base64.StdEncoding.DecodeString(key); err != nil {
		return fmt.Errorf("%s is not base64, as the key of an account is", name)
	}
	return nil
}

func (c *Config) checkDevelopment() error {
	if err := checkAddress("--addr", c.Addr); err != nil {
		return err
	}
	if !c.public() && !loopback.Is(c.Addr) {
		return fmt.Errorf("other machines can reach %s, and development (local tokens, diagnostics, the Playground) is for this one alone: add --production or --issuer, or listen on 127.0.0.1", c.Addr)
	}
	return nil
}

func checkOptionalAddress(setting, addr string) error {
	if addr == "" {
		return nil
	}
	return checkAddress(setting, addr)
}

func (c *Config) checkReadyLag() error {
	if c.ReadyLag < 0 {
		return errors.New("--ready-lag is not negative")
	}
	return nil
}

// shortestPeriod is what a request to another machine may take in the worst of normal cases.
const shortestPeriod = 100 * time.Millisecond

func (c *Config) checkLeases() error {
	switch {
	case c.LeaseRenew < shortestPeriod || c.LeaseBalance < shortestPeriod:
		return fmt.Errorf("--lease-renew and --lease-balance are %v at least", shortestPeriod)
	case c.LeaseExpire <= 2*c.LeaseRenew:
		return fmt.Errorf("--lease-expire (%v) must be more than twice --lease-renew (%v): a lease has to outlive a renewal that fails",
			c.LeaseExpire, c.LeaseRenew)
	}
	return nil
}

func (c *Config) checkEngine() error {
	if err := checkAddress("--addr", c.Addr); err != nil {
		return err
	}
	if err := checkKey("--key", c.EngineKey); err != nil {
		return err
	}
	switch length := len(c.engineKey()); {
	case length == 0:
		return errors.New("--key is empty")
	case loopback.Is(c.Addr):
		return nil
	case c.HasEmulatorKey():
		return fmt.Errorf("everybody knows the emulators' key, and other machines can reach %s: give a key of your own with --key, or listen on 127.0.0.1", c.Addr)
	case c.EngineEntra:
		return fmt.Errorf("with --entra anybody may come, and other machines can reach %s: listen on 127.0.0.1", c.Addr)
	case length < shortestKey:
		return fmt.Errorf("--key has %d bytes, and other machines can reach %s: give one of %d random bytes at least (openssl rand -base64 64), or listen on 127.0.0.1",
			length, c.Addr, shortestKey)
	}
	return nil
}

// shortestKey is what a signature has, in bytes: a shorter key is easier to guess (RFC 2104, section 3).
const shortestKey = sha256.Size

// HasEmulatorKey tells whether engine's key is the emulators', however it is written: line ends in base64 mean nothing.
func (c *Config) HasEmulatorKey() bool {
	emulators, _ := base64.StdEncoding.DecodeString(EmulatorKey)
	return bytes.Equal(c.engineKey(), emulators)
}

func (c *Config) engineKey() []byte {
	key, _ := base64.StdEncoding.DecodeString(c.EngineKey) // checkKey has seen to it
	return key
}

func (c *Config) checkProvision() error {
	switch {
	case c.Print != "" && c.Print != "bicep":
		return fmt.Errorf("--print knows bicep, not %q", c.Print)
	case c.Print == "" && c.Endpoint == "" && (c.Throughput != "" || c.SharedThroughput):
		return errors.New("a throughput is for an account, and the embedded engine has no limit: set COSMOS_ENDPOINT, or leave out --throughput")
	}
	return nil
}

// mostSeedUsers is what a data set of some 2 billion items has.
const mostSeedUsers = 1_000_000

func (c *Config) checkUsers() error {
	if c.Users < 1 || c.Users > mostSeedUsers || c.Seed < 0 {
		return fmt.Errorf("--users is from 1 to %d, and --seed is not negative", mostSeedUsers)
	}
	return nil
}

func (c *Config) checkMaxRU() error {
	if c.MaxRU < 0 {
		return errors.New("--max-ru is not negative")
	}
	return nil
}

func (c *Config) checkSubject() error {
	if c.Subject == "" {
		return errors.New("whom is the token for? Say it with --sub NAME")
	}
	return nil
}

func checkAddress(setting, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%s is not an address like 127.0.0.1:8080: %q", setting, addr)
	}
	return nil
}
