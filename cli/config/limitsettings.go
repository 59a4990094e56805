package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cosmosblog/guard/limits"
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
		"number of requests in progress and open WebSockets. 0 is no limit.",
		func(l *limits.Limits) any { return &l.AddressConnections }),
	limit("max-in-flight", "Maximum number of operations that run at once. Further requests get 429 with `Retry-After`.",
		func(l *limits.Limits) any { return &l.InFlight }),
	limit("timeout", fmt.Sprintf("Maximum duration of an operation with its database requests, at most %v.", maxTimeout),
		func(l *limits.Limits) any { return &l.Time }),
	limit("cost-limit", "Maximum price of an operation in RU. The server rejects more expensive operations "+
		"before they run, by the prices in the schema, and stops those that were charged twice the limit. 0 is no limit.",
		func(l *limits.Limits) any { return &l.Cost }),
	limit("max-client-subscriptions", "Maximum number of subscriptions of one account, and of one address, or of one /64 "+
		"network with IPv6. 0 is no limit, also of their memory, and of the processor time of an address's.",
		func(l *limits.Limits) any { return &l.ClientStreams }),
	{
		Commands: []string{Serve},
		Flag:     "account-budget", Env: "COSMOSBLOG_ACCOUNT_BUDGET", Default: "",
		Meaning: fmt.Sprintf("What each account may spend at this server, in RU/s, with the background work that it causes. It "+
			"can save up ten seconds of it. Beyond that, requests get 429 with `BUDGET_EXCEEDED`. 0 is no budget. If it is not "+
			"set: %d, in development 0.", accountBudget),
		field: func(c *Config) any { return &c.AccountBudget },
	},
	{
		Commands: []string{Serve},
		Flag:     "address-budget", Env: "COSMOSBLOG_ADDRESS_BUDGET", Default: "",
		Meaning: fmt.Sprintf("What the requests of each address may spend together at this server, signed in or not, or those of "+
			"a /64 network with IPv6. Behind a proxy, this needs `--trusted-proxy`. 0 is no budget. If it is not set: %d, in "+
			"development 0.", addressBudget),
		field: func(c *Config) any { return &c.AddressBudget },
	},
}

// The budgets in production, in RU/s. A person who reads a page every second spends about 20 RU/s.
const (
	accountBudget = 300
	addressBudget = 1500
)

// Budgets returns what each account and each address may spend at this server, in RU/s; 0 is no
// budget.
func (c *Config) Budgets() (account, address float64) {
	account, _ = c.budget(c.AccountBudget, accountBudget)
	address, _ = c.budget(c.AddressBudget, addressBudget)
	return account, address
}

// budget parses a budget.
func (c *Config) budget(text string, inProduction float64) (float64, bool) {
	switch {
	case text != "":
		n, err := strconv.Atoi(text)
		return float64(n), err == nil && n >= 0
	case c.Development():
		return 0, true
	}
	return inProduction, true
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

// maxTimeout is the part of the write timeout that remains after the slowest arrival of a request.
// The response of a longer operation could not be written.
var maxTimeout = limits.Default().WriteTime - limits.Default().ReadTime

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
	fault(c.CacheBytes < 0, "--cache-bytes must not be negative")
	fault(c.Staleness != 0 && (c.Staleness < minStaleness || c.Staleness > maxStaleness),
		"--cache-staleness must be 0s, or from %v to %v", minStaleness, maxStaleness)
	fault(l.InFlight < 1, "--max-in-flight must be at least 1")
	fault(l.Time <= 0 || l.Time > maxTimeout, "--timeout must be positive and at most %v", maxTimeout)
	fault(l.Cost < 0, "--cost-limit must not be negative")
	fault(l.ClientStreams < 0, "--max-client-subscriptions must not be negative")
	account, isNumber := c.budget(c.AccountBudget, accountBudget)
	fault(!isNumber, "--account-budget must be a number of RU/s, or 0")
	address, isNumber := c.budget(c.AddressBudget, addressBudget)
	fault(!isNumber, "--address-budget must be a number of RU/s, or 0")
	fault(address > 0 && address < account, "--address-budget must not be below --account-budget, because people share addresses")
	return errors.Join(faults...)
}

// Limits of the age of kept reads. Below, polls would cost more than the reads that they save.
// Above, readers of other servers would miss whole conversations.
const (
	minStaleness = 100 * time.Millisecond
	maxStaleness = time.Minute
)
