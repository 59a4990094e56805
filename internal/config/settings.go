package config

// settings is the one table of what can be configured.
var settings = []Setting{
	{
		Commands: []string{Serve},
		Flag:     "addr", Env: "COSMOSBLOG_ADDR", Default: "127.0.0.1:8080",
		Meaning: "Where the API listens. Port 0 takes a free one.",
		field:   func(c *Config) any { return &c.Addr },
	},
	{
		Commands: []string{Serve, Projector, Provision, Engine, Token, Seed, Backup, Check, Remove},
		Flag:     "data", Env: "COSMOSBLOG_DATA", Default: "cosmosblog-data",
		Meaning: "The data folder: the embedded engine's items and the key of local tokens. Made where it is not there; it may hold other files.",
		field:   func(c *Config) any { return &c.Data },
	},
	{
		Commands: []string{Serve},
		Flag:     "projector", Env: "COSMOSBLOG_PROJECTOR", Default: "true",
		Meaning: "Runs the projector in the server's process. Turn it off where the command `projector` does its work.",
		field:   func(c *Config) any { return &c.Projector },
	},
	{
		Commands: []string{Serve},
		Flag:     "production", Env: "COSMOSBLOG_PRODUCTION", Default: "false",
		Meaning: "Turns off what belongs to development: local tokens, introspection, suggestions, diagnostics, the Playground. Asked for where the address can be reached from other machines.",
		field:   func(c *Config) any { return &c.Production },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Remove},
		Flag:     "endpoint", Env: "COSMOS_ENDPOINT", Default: "",
		Meaning: "The Cosmos DB account to use, http or https. Without it, the embedded engine.",
		field:   func(c *Config) any { return &c.Endpoint },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Remove},
		Env:      "COSMOS_KEY", Default: "",
		Meaning: "The account's key. Without it, Entra ID. There is no flag for it, because other people on the machine can read command lines.",
		field:   func(c *Config) any { return &c.Key },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Remove},
		Flag:     "database", Env: "COSMOS_DATABASE", Default: "cosmosblog",
		Meaning: "The database in the account, or in the embedded engine.",
		field:   func(c *Config) any { return &c.Database },
	},
	{
		Commands: []string{Projector},
		Flag:     "addr", Env: "COSMOSBLOG_PROJECTOR_ADDR", Default: "",
		Meaning: "Where the projector answers `/healthz` and `/readyz`. Without it, it listens on nothing.",
		field:   func(c *Config) any { return &c.Addr },
	},
	{
		Commands: []string{Engine},
		Flag:     "addr", Env: "COSMOSBLOG_ENGINE_ADDR", Default: "127.0.0.1:8081",
		Meaning: "Where the embedded engine listens. Port 0 takes a free one.",
		field:   func(c *Config) any { return &c.Addr },
	},
	{
		Commands: []string{Engine},
		Flag:     "tls", Env: "COSMOSBLOG_ENGINE_TLS", Default: "false",
		Meaning: "Speaks https, with the certificate and key in `engine-tls.pem` of the data folder. Where there is none, a self-signed one is made.",
		field:   func(c *Config) any { return &c.EngineTLS },
	},
	{
		Commands: []string{Engine},
		Flag:     "key", Env: "COSMOSBLOG_ENGINE_KEY", Default: EmulatorKey,
		Meaning: "The engine's master key, in base64. The default is the well-known one of Microsoft's emulators, and then the engine listens on loopback only.",
		field:   func(c *Config) any { return &c.EngineKey },
	},
	{
		Commands: []string{Engine},
		Flag:     "entra", Env: "COSMOSBLOG_ENGINE_ENTRA", Default: "false",
		Meaning: "Takes any well-formed token of Entra ID beside the key, for items and for executing scripts; definitions are refused to it, as the service does. It proves nothing of who comes: it is for trying, and listens on loopback only.",
		field:   func(c *Config) any { return &c.EngineEntra },
	},
	{
		Commands: []string{Provision},
		Flag:     "throughput", Env: "COSMOS_THROUGHPUT", Default: "",
		Meaning: "What an account gives the containers: `autoscale:1000` (up to 1000 RU/s each), `manual:400`, `serverless`; single containers otherwise by `manual:400,posts=autoscale:4000`. Without it, what is there stays and what is made gets the account's default.",
		field:   func(c *Config) any { return &c.Throughput },
	},
	{
		Commands: []string{Provision},
		Flag:     "shared-throughput", Env: "COSMOS_SHARED_THROUGHPUT", Default: "false",
		Meaning: "Gives the throughput to the database, for its containers to share, but for those that are named.",
		field:   func(c *Config) any { return &c.SharedThroughput },
	},
	{
		Commands: []string{Provision},
		Flag:     "print", Env: "", Default: "",
		Meaning: "`bicep` prints a template with the same definitions instead of making them, and needs no account.",
		field:   func(c *Config) any { return &c.Print },
	},
	{
		Commands: []string{Seed},
		Flag:     "users", Env: "", Default: "100",
		Meaning: "How many users the data set has. Each has 5 to 50 posts, with up to 25 comments and 100 likes each.",
		field:   func(c *Config) any { return &c.Users },
	},
	{
		Commands: []string{Seed},
		Flag:     "seed", Env: "", Default: "1",
		Meaning: "Which data set: the same number gives the same one, another number one that has nothing in common with it.",
		field:   func(c *Config) any { return &c.Seed },
	},
	{
		Commands: []string{Copy},
		Flag:     "from", Env: "", Default: "",
		Meaning: "What is copied: a data folder, or the endpoint of an account, http or https.",
		field:   func(c *Config) any { return &c.From },
	},
	{
		Commands: []string{Copy},
		Env:      "COPY_FROM_KEY", Default: "",
		Meaning: "The key of the account that `--from` names. Without it, Entra ID.",
		field:   func(c *Config) any { return &c.FromKey },
	},
	{
		Commands: []string{Copy},
		Flag:     "from-database", Env: "", Default: "cosmosblog",
		Meaning: "The database that is copied.",
		field:   func(c *Config) any { return &c.FromDatabase },
	},
	{
		Commands: []string{Copy},
		Flag:     "to", Env: "", Default: "",
		Meaning: "Where it is copied: a data folder, made where it is not there, or the endpoint of an account that is provisioned.",
		field:   func(c *Config) any { return &c.To },
	},
	{
		Commands: []string{Copy},
		Env:      "COPY_TO_KEY", Default: "",
		Meaning: "The key of the account that `--to` names. Without it, Entra ID.",
		field:   func(c *Config) any { return &c.ToKey },
	},
	{
		Commands: []string{Copy},
		Flag:     "to-database", Env: "", Default: "cosmosblog",
		Meaning: "The database that it is copied into.",
		field:   func(c *Config) any { return &c.ToDatabase },
	},
	{
		Commands: []string{Token},
		Flag:     "sub", Env: "", Default: "",
		Meaning: "Whom the token is for: any name; the same name is the same account.",
		field:   func(c *Config) any { return &c.Subject },
	},
}
