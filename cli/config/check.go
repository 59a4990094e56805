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

// Check validates the settings of a command. The error joins one sentence for the operator for
// each invalid setting. It never contains a key.
func (c *Config) Check(command string) error {
	switch command {
	case Serve:
		return errors.Join(c.checkDatabase(), c.checkDevelopment(), c.checkIssuer(), c.checkPages(), c.checkLeaseExpire(),
			checkOptionalAddress("--metrics-addr", c.MetricsAddr), c.checkLogLevel(),
			c.checkTraces(), c.checkLimits(), c.checkNetwork(), c.checkMaxRU(), c.checkBackgroundBucket())
	case Projector:
		return errors.Join(c.checkDatabase(), c.checkLeaseExpire(), checkOptionalAddress("--addr", c.Addr),
			c.checkLogLevel(), c.checkMaxRU(), c.checkBackgroundBucket())
	case Provision:
		return errors.Join(c.checkDatabase(), c.checkProvision())
	case Engine:
		return errors.Join(c.checkData(), c.checkEngine())
	case Token:
		return errors.Join(c.checkData(), c.checkSubject(), c.checkLocal())
	case Copy:
		return errors.Join(c.checkCopy(), c.checkLeaseExpire(), c.checkBackgroundBucket())
	case Backup, Check:
		return c.checkData()
	case Schema:
		return nil
	case Top:
		return errors.Join(checkOptionalAddress("--metrics-addr", c.MetricsAddr), checkOptionalAddress("--addr", c.Addr))
	case Remove, Deadletters, Restored:
		return c.checkDatabase()
	case Seed:
		return errors.Join(c.checkDatabase(), c.checkUsers(), c.checkLeaseExpire(), c.checkBackgroundBucket())
	case Export:
		return errors.Join(c.checkDatabase(), c.checkExport(), c.checkMaxRU(), c.checkBackgroundBucket())
	case Audit, Rebuild:
		return errors.Join(c.checkDatabase(), c.checkMaxRU(), c.checkLeaseExpire(), c.checkBackgroundBucket())
	}
	return fmt.Errorf("unknown command %q", command)
}

// Development reports whether the development features are on: the server listens on loopback,
// with neither --production nor an issuer.
func (c *Config) Development() bool { return !c.isProduction() && loopback.Is(c.Addr) }

// isProduction reports whether the operator configured a server for other people.
func (c *Config) isProduction() bool { return c.Production || c.Issuer != "" }

func (c *Config) checkData() error {
	if c.Data == "" {
		return errors.New("--data must name a folder")
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
		return errors.New("COSMOS_DATABASE must name a database")
	}
	if c.Key != "" && c.KeyFile != "" {
		return errors.New("COSMOS_KEY and COSMOS_KEY_FILE are both set: set only one of them")
	}
	return checkKey("COSMOS_KEY", c.Key)
}

// parseHTTP parses a URL. It returns false unless the scheme is http or https and the URL has a
// host.
func parseHTTP(text string) (*url.URL, bool) {
	address, err := url.Parse(text)
	return address, err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Host != ""
}

func checkEndpoint(name, text string) error {
	endpoint, ok := parseHTTP(text)
	switch {
	case !ok:
		return fmt.Errorf("%s must be a URL like https://my-account.documents.azure.com, not %q", name, text)
	case endpoint.User != nil, endpoint.RawQuery != "", strings.Trim(endpoint.Path, "/") != "":
		return fmt.Errorf("%s must have no user, path or query", name)
	}
	return nil
}

func (c *Config) checkCopy() error {
	return errors.Join(checkPlace("from", c.From, "COPY_FROM_KEY", c.FromKey),
		checkPlace("to", c.To, "COPY_TO_KEY", c.ToKey))
}

func (c *Config) checkExport() error {
	if c.ExportTo == "" {
		return errors.New("--to must name a folder for the files")
	}
	return nil
}

// checkPlace checks one end of a copy.
func checkPlace(flag, text, keyName, key string) error {
	place := ParsePlace(text)
	switch {
	case place.Folder == "" && place.Endpoint == "":
		return fmt.Errorf("--%s must name a data folder or an endpoint", flag)
	case place.Database == "":
		return fmt.Errorf("--%s must name a database after the last #", flag)
	case place.Endpoint == "":
		return nil
	}
	return errors.Join(checkEndpoint("--"+flag, place.Endpoint), checkKey(keyName, key))
}

func checkKey(name, key string) error {
	if _, err := base64.StdEncoding.DecodeString(key); err != nil {
		return fmt.Errorf("%s is not base64, as the keys of accounts are", name)
	}
	return nil
}

func (c *Config) checkDevelopment() error {
	if err := checkAddress("--addr", c.Addr); err != nil {
		return err
	}
	if c.DocumentsOnly && c.Documents == "" && c.Pages == "" {
		return errors.New("--documents-only needs --documents or --pages")
	}
	if !c.isProduction() && !loopback.Is(c.Addr) {
		return fmt.Errorf("other machines can reach %s, and the development features (local tokens, diagnostics, "+
			"the Playground) are for this machine only: add --production or --issuer, or listen on 127.0.0.1", c.Addr)
	}
	return nil
}

func checkOptionalAddress(setting, addr string) error {
	if addr == "" {
		return nil
	}
	return checkAddress(setting, addr)
}

// minLeaseExpire is four times the normal worst case of a request to an account: heartbeats are a
// quarter of the expiry apart.
const minLeaseExpire = 400 * time.Millisecond

func (c *Config) checkLeaseExpire() error {
	if c.LeaseExpire < minLeaseExpire {
		return fmt.Errorf("--lease-expire must be at least %v", minLeaseExpire)
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
	case c.EngineRU < 0:
		return fmt.Errorf("--throughput must be a number of RU/s, or 0 for no limit, not %d", c.EngineRU)
	case length == 0:
		return errors.New("--key is empty")
	case loopback.Is(c.Addr):
		return nil
	case c.HasEmulatorKey():
		return fmt.Errorf("the emulators' key is well known, and other machines can reach %s: "+
			"set a key of your own with --key, or listen on 127.0.0.1", c.Addr)
	case length < minKeyBytes:
		return fmt.Errorf("--key has %d bytes, and other machines can reach %s: set a key of at least %d random bytes "+
			"(openssl rand -base64 64), or listen on 127.0.0.1", length, c.Addr, minKeyBytes)
	}
	return nil
}

// minKeyBytes is the size of a signature. A shorter key is easier to guess (RFC 2104, section 3).
const minKeyBytes = sha256.Size

// HasEmulatorKey reports whether the engine's key is the emulators' key. The engine then also
// accepts unverified tokens of Entra ID, for the same reason: nothing is protected. It compares the
// decoded keys, because base64 may contain line ends.
func (c *Config) HasEmulatorKey() bool {
	emulators, _ := base64.StdEncoding.DecodeString(EmulatorKey)
	return bytes.Equal(c.engineKey(), emulators)
}

func (c *Config) engineKey() []byte {
	key, _ := base64.StdEncoding.DecodeString(c.EngineKey) // checkKey rejects invalid keys
	return key
}

func (c *Config) checkProvision() error {
	switch {
	case c.Print != "" && c.Print != "bicep":
		return fmt.Errorf("--print must be bicep, not %q", c.Print)
	case c.Scripts != "" && c.Scripts != KeepScripts && c.Scripts != RecreateScripts:
		return fmt.Errorf("--scripts must be %s or %s, not %q", KeepScripts, RecreateScripts, c.Scripts)
	case c.Scripts == KeepScripts && c.Endpoint == "":
		return errors.New("--scripts keep applies to accounts: no two releases use one data folder at a time")
	case c.Print == "" && c.Endpoint == "" && c.Throughput != "":
		return errors.New("--throughput applies to accounts, and the embedded engine has no throughput limit: " +
			"set COSMOS_ENDPOINT, or omit --throughput")
	}
	return nil
}

// maxSeedUsers is the number of users of a data set with about 2 billion items.
const maxSeedUsers = 1_000_000

func (c *Config) checkUsers() error {
	if c.Users < 1 || c.Users > maxSeedUsers || c.Seed < 0 {
		return fmt.Errorf("--users must be from 1 to %d, and --seed must not be negative", maxSeedUsers)
	}
	return nil
}

func (c *Config) checkMaxRU() error {
	if c.MaxRU < 0 {
		return errors.New("--max-ru must not be negative")
	}
	return nil
}

func (c *Config) checkSubject() error {
	if c.Subject == "" {
		return errors.New("the token needs a subject: --sub NAME")
	}
	return nil
}

func checkAddress(setting, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%s must be an address like 127.0.0.1:8080, not %q", setting, addr)
	}
	return nil
}
