package config

import (
	"time"

	"cosmosblog/internal/limits"
)

// Config holds the settings of one run of a command. A command reads those that the table lists for it.
type Config struct {
	Addr       string // where to listen
	Data       string // the data folder
	Projector  bool   // whether serve runs the projector too
	Production bool   // whether serve leaves out what belongs to development

	Limits       limits.Limits // what serve grants a client
	CORSOrigins  string        // of the pages that may use the API, with commas between
	TrustedProxy string        // networks of the proxies that serve believes, with commas between

	Issuer          string        // of the tokens that serve takes; empty for local ones, or none
	Audience        string        // that these tokens are for
	TokenAlgorithms string        // that sign them, with commas between
	TokenSkew       time.Duration // how far the issuer's clock may be from this one

	LeaseRenew, LeaseExpire, LeaseBalance time.Duration // the projector's periods

	MetricsAddr string        // where serve answers its operator; empty for nowhere
	ReadyLag    time.Duration // how far views may be behind a process that is ready; 0 for as far as they like

	LogLevel       string // the least that the log holds; empty for info
	TracesEndpoint string // where serve sends traces; empty for nowhere

	Endpoint string // of the Cosmos DB account; empty for the embedded engine
	Key      string // of the account; empty for Entra ID
	KeyName  string // the environment variable that Key is from, for sentences; empty for COSMOS_KEY
	Database string

	EngineTLS   bool   // whether engine speaks https
	EngineKey   string // engine's master key
	EngineEntra bool   // whether engine takes tokens of Entra ID

	Throughput       string // what provision gives the containers; the store reads it
	SharedThroughput bool   // whether they share it
	Print            string // what provision prints instead

	Users int // how many users seed makes
	Seed  int // which of the data sets of so many users

	From, To                 string // what copy copies: a data folder or an endpoint each
	FromKey, ToKey           string // of endpoints; empty for Entra ID
	FromDatabase, ToDatabase string

	FromStart bool // whether rebuild leaves aside where an earlier one was broken off

	Retry bool // whether deadletters retries what it lists

	Repair bool // whether audit mends what it finds
	MaxRU  int  // that audit or rebuild spends in a second; 0: what is gentle there

	Subject string // whom token makes a token for
}

// The commands.
const (
	Serve       = "serve"
	Projector   = "projector"
	Provision   = "provision"
	Engine      = "engine"
	Token       = "token"
	Seed        = "seed"
	Copy        = "copy"
	Audit       = "audit"
	Rebuild     = "rebuild"
	Deadletters = "deadletters"
	Backup      = "backup"
	Check       = "check"
	Remove      = "remove"
)

// EmulatorKey is the master key that Microsoft publishes for its Cosmos DB emulators ("Install and use the Azure Cosmos
// DB emulator", authentication): tools know it, and it protects nothing.
const EmulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// Default gives the settings of a command where nothing is configured.
func Default(command string) Config {
	var c Config
	for _, s := range Of(command) {
		if err := s.Set(&c, s.Default); err != nil {
			panic("config: a default that is none: " + err.Error())
		}
	}
	return c
}
