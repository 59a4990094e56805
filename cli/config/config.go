package config

import (
	"time"

	"cosmosblog/guard/limits"
)

// Config holds the settings of one run of a command. A command reads only the settings that the
// table lists for it.
type Config struct {
	Addr       string // listen address
	Data       string // path of the data folder
	Projector  bool   // serve also runs the projector
	Production bool   // serve turns off every development feature
	// PublishSchema makes serve return the schema outside of development too.
	PublishSchema bool

	Documents     string // path of a manifest of documents; none if empty
	DocumentsOnly bool   // serve executes no other documents

	CacheBytes int           // size of the cache of reads of serve
	Staleness  time.Duration // greatest age of a kept read, if no engine in the process counts changes
	Limits     limits.Limits // limits of serve for its clients
	// What each account and each address may spend at this server, in RU/s; the default if empty.
	AccountBudget, AddressBudget string

	PublicMaxAge time.Duration // how long caches may share answers; 0: not at all
	CORSOrigins  string        // origins of web pages that may call the API, separated by commas
	TrustedProxy string        // networks of the trusted proxies, separated by commas

	Pages       string // origin of the blog's pages; if empty, they are served in development only
	PagesClient string // id of the pages at the issuer; if empty, nobody can sign in on them
	PagesScope  string // scope that the pages ask the issuer for

	Issuer   string // OpenID Connect issuer of the accepted tokens; if empty, local tokens or none
	Audience string // required audience of the issuer's tokens

	LeaseExpire time.Duration // time without a heartbeat after which a lease expires

	MetricsAddr string // operator's address of serve; if empty, there is none

	LogLevel       string // minimum level of the log; if empty, info
	TracesEndpoint string // collector of traces; if empty, no traces

	Endpoint string // Cosmos DB account; if empty, the embedded engine
	Key      string // key of the account; if empty, Entra ID
	KeyFile  string // path of a file with the key, which may change; empty if there is none
	KeyName  string // environment variable of Key for error messages; if empty, COSMOS_KEY
	Database string

	BackgroundBucket int // throughput bucket of background work; 0 for none

	EngineTLS bool   // engine serves HTTPS
	EngineKey string // master key of engine, in base64
	EngineRU  int    // RU/s of each container of engine; 0: it never throttles

	Throughput string // throughput that provision sets; store/provision parses it
	Print      string // format that provision prints instead of provisioning
	Scripts    string // what provision does with scripts: KeepScripts, RecreateScripts or empty

	Users int // number of users that seed writes
	Seed  int // number that selects one of the data sets with that many users

	From, To       string // ends of a copy, for ParsePlace
	FromKey, ToKey string // keys of the endpoints; if empty, Entra ID

	ExportTo string // folder of the files of an export

	FromStart bool // rebuild starts over instead of resuming an interrupted one

	Retry bool // deadletters retries the listed changes

	Repair bool // audit repairs what it finds
	MaxRU  int  // RU/s that export, audit or a rebuild may use; 0 for the default of the database's kind

	Subject string // subject of the token that token prints
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
	Export      = "export"
	Audit       = "audit"
	Rebuild     = "rebuild"
	Deadletters = "deadletters"
	Restored    = "restored"
	Top         = "top"
	Backup      = "backup"
	Check       = "check"
	Remove      = "remove"
	Schema      = "schema"
)

// The values of Config.Scripts. If it is empty, provision deletes old versions of scripts.
const (
	KeepScripts     = "keep"     // keep all former versions
	RecreateScripts = "recreate" // delete the scripts and register them again
)

// defaultDatabase is the name of a database that has no other one.
const defaultDatabase = "cosmosblog"

// EmulatorKey is the master key that Microsoft publishes for its Cosmos DB emulators ("Install
// and use the Azure Cosmos DB emulator", authentication). Tools have it built in. It protects
// nothing.
const EmulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// Default returns the default settings of a command. It panics if the table has an invalid
// default.
func Default(command string) Config {
	c := Config{Limits: limits.Default()}
	for _, s := range Of(command) {
		if err := s.Set(&c, s.Default); err != nil {
			panic("config: an invalid default: " + err.Error())
		}
	}
	return c
}
