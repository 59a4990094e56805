package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cosmosblog/internal/limits"
)

// limitSettings are the limits that depend on the machine, the account and the network. The other
// limits follow from the schema and from what clients send, so they are constants in package
// limits.
var limitSettings = []Setting{
	limit("max-connections", "Maximum number of open connections. A further one replaces the one that was idle for longest. "+
		"If all are busy, it gets 429 with `Retry-After`; probes are always answered.",
		func(l *limits.Limits) any { return &l.Connections }),
	limit("max-address-connections", "Maximum number of open connections of one address, or of one /64 network with "+
		"IPv6. Those of this machine and of `--trusted-proxy` do not count; behind such a proxy, it is the maximum "+
		"number of requests in progress. 0 is no limit.",
		func(l *limits.Limits) any { return &l.AddressConnections }),
	limit("max-body-bytes", fmt.Sprintf("Maximum size of a request body in bytes, at most %d.", maxBodyBytes),
		func(l *limits.Limits) any { return &l.BodyBytes }),
	limit("max-in-flight", "Maximum number of operations that run at once. Further requests get 429 with `Retry-After`.",
		func(l *limits.Limits) any { return &l.InFlight }),
	limit("timeout", fmt.Sprintf("Maximum duration of an operation with its database requests, at most %v.", maxTimeout),
		func(l *limits.Limits) any { return &l.Time }),
	limit("cost-limit", "Maximum price of an operation in RU. The server rejects more expensive operations "+
		"before they run, by the prices in the schema, and stops those that were charged twice the limit. 0 is no limit.",
		func(l *limits.Limits) any { return &l.Cost }),
}

// limit returns the setting of a limit. Its default is that of package limits.
func limit(flag, meaning string, field func(*limits.Limits) any) Setting {
	s := Setting{
		Commands: []string{Serve},
		Flag:     flag, Env: "COSMOSBLOG_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")),
		Meaning: meaning,
		field:   func(c *Config) any { return field(&c.Limits) },
	}
	s.Default = s.Get(&Config{Limits: limits.Default()})
	return s
}

// all is the table of all settings.
var all = slices.Concat(settings, networkSettings, telemetrySettings, limitSettings)

var (
	// maxBodyBytes is the memory for the bodies of all requests. A larger body would never fit.
	maxBodyBytes = limits.Default().AllBodiesBytes
	// maxTimeout is the part of the write timeout that remains after the slowest arrival of a
	// request. The response of a longer operation could not be written.
	maxTimeout = limits.Default().WriteTime - limits.Default().ReadTime
)

func (c *Config) checkLimits() error {
	var faults []error
	fault := func(isFault bool, format string, args ...any) {
		if isFault {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	l := c.Limits
	fault(l.Connections < 1, "--max-connections must be at least 1")
	fault(l.AddressConnections < 0, "--max-address-connections must not be negative")
	fault(l.BodyBytes < 1 || l.BodyBytes > maxBodyBytes, "--max-body-bytes must be from 1 to %d", maxBodyBytes)
	fault(c.CacheBytes < 0, "--cache-bytes must not be negative")
	fault(c.Staleness != 0 && (c.Staleness < minStaleness || c.Staleness > maxStaleness),
		"--cache-staleness must be 0s, or from %v to %v", minStaleness, maxStaleness)
	fault(l.InFlight < 1, "--max-in-flight must be at least 1")
	fault(l.Time <= 0 || l.Time > maxTimeout, "--timeout must be positive and at most %v", maxTimeout)
	fault(l.Cost < 0, "--cost-limit must not be negative")
	return errors.Join(faults...)
}

// Limits of the age of kept reads. Below, polls would cost more than the reads that they save.
// Above, readers of other servers would miss whole conversations.
const (
	minStaleness = 100 * time.Millisecond
	maxStaleness = time.Minute
)
