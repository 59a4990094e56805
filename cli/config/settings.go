package config

// settings are the settings of the database, of signing in and of single commands.
var settings = []Setting{
	{
		Commands: []string{Serve, Top},
		Flag:     "addr", Env: "COSMOSBLOG_ADDR", Default: "127.0.0.1:8080",
		Meaning: "Listen address of the API. Port 0 selects a free port.",
		field:   func(c *Config) any { return &c.Addr },
	},
	{
		Commands: []string{Serve, Projector, Provision, Engine, Token, Seed, Export, Audit, Rebuild, Deadletters, Restored, Backup, Check, Remove},
		Flag:     "data", Env: "COSMOSBLOG_DATA", Default: "cosmosblog-data",
		Meaning: "Path of the data folder, which holds the embedded engine's items and the key of local " +
			"tokens. Created if it does not exist. It may contain other files.",
		field: func(c *Config) any { return &c.Data },
	},
	{
		Commands: []string{Serve},
		Flag:     "projector", Env: "COSMOSBLOG_PROJECTOR", Default: "true",
		Meaning: "Runs the projector in the server's process. Turn it off if the command `projector` runs " +
			"elsewhere.",
		field: func(c *Config) any { return &c.Projector },
	},
	{
		Commands: []string{Serve},
		Flag:     "cache-bytes", Env: "COSMOSBLOG_CACHE_BYTES", Default: "67108864",
		Meaning: "Memory for the results of reads, which are kept until their partition changes. With 0, " +
			"every read is sent to the database.",
		field: func(c *Config) any { return &c.CacheBytes },
	},
	{
		Commands: []string{Serve},
		Flag:     "cache-staleness", Env: "COSMOSBLOG_CACHE_STALENESS", Default: "1s",
		Meaning: "On an account, and on an engine in another process, the server follows the change feeds to " +
			"learn which partitions changed, while it is read. It polls each feed range four times in this " +
			"time. If its last poll is older, nothing kept is used. With 0s, it polls nothing and keeps nothing.",
		field: func(c *Config) any { return &c.Staleness },
	},
	{
		Commands: []string{Serve},
		Flag:     "production", Env: "COSMOSBLOG_PRODUCTION", Default: "false",
		Meaning: "Turns off the development features: local tokens, introspection, automatic " +
			"persisted queries, suggestions, diagnostics, the Playground, and without `--pages` the blog's web " +
			"pages. The server requires this or `--issuer` if other machines can reach its address.",
		field: func(c *Config) any { return &c.Production },
	},
	{
		Commands: []string{Serve},
		Flag:     "publish-schema", Env: "COSMOSBLOG_PUBLISH_SCHEMA", Default: "false",
		Meaning: "Serves the schema at `/schema.graphql` to everyone. In development, the server always " +
			"serves it.",
		field: func(c *Config) any { return &c.PublishSchema },
	},
	{
		Commands: []string{Serve},
		Flag:     "documents", Env: "COSMOSBLOG_DOCUMENTS", Default: "",
		Meaning: "Path of a manifest of an application's documents, as graphql-codegen, Relay or Apollo write it. " +
			"Clients can send the id of a document instead of its text. The server starts only if all documents are " +
			"valid and within the limits.",
		field: func(c *Config) any { return &c.Documents },
	},
	{
		Commands: []string{Serve},
		Flag:     "documents-only", Env: "COSMOSBLOG_DOCUMENTS_ONLY", Default: "false",
		Meaning: "Rejects all documents that are neither in `--documents` nor those of the blog's pages, if they are " +
			"served. This applies to GraphiQL too.",
		field: func(c *Config) any { return &c.DocumentsOnly },
	},
	{
		Commands: []string{Serve},
		Flag:     "issuer", Env: "COSMOSBLOG_ISSUER", Default: "",
		Meaning: "URL of the OpenID Connect issuer whose tokens the server accepts, exactly as in their " +
			"claim `iss`: https, or http on loopback. Turns off the development features, as " +
			"`--production` does.",
		field: func(c *Config) any { return &c.Issuer },
	},
	{
		Commands: []string{Token},
		Env:      "COSMOSBLOG_ISSUER", Default: "",
		Meaning: "The servers' issuer. If it is set, `token` prints no token, because servers with an " +
			"issuer accept only that issuer's tokens.",
		field: func(c *Config) any { return &c.Issuer },
	},
	{
		Commands: []string{Serve},
		Flag:     "audience", Env: "COSMOSBLOG_AUDIENCE", Default: "",
		Meaning: "Required value of the claim `aud` in the issuer's tokens: the identifier of this API, or" +
			" of the client that signs people in. Required with `--issuer`.",
		field: func(c *Config) any { return &c.Audience },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Export, Audit, Rebuild, Deadletters, Restored, Remove},
		Flag:     "endpoint", Env: "COSMOS_ENDPOINT", Default: "",
		Meaning: "URL of the Cosmos DB account, http or https. If it is not set, the command uses the " +
			"embedded engine.",
		field: func(c *Config) any { return &c.Endpoint },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Export, Audit, Rebuild, Deadletters, Restored, Remove},
		Env:      "COSMOS_KEY", Default: "",
		Meaning: "The account's key. If it is not set, the command signs in with Entra ID. There is no " +
			"flag, because other users of the machine can read command lines.",
		field: func(c *Config) any { return &c.Key },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Export, Audit, Rebuild, Deadletters, Restored, Remove},
		Flag:     "key-file", Env: "COSMOS_KEY_FILE", Default: "",
		Meaning: "Path of a file with the account's key, instead of `COSMOS_KEY`. The command reads it at its start, and " +
			"again if the account rejects the key, so that keys can be rotated without a restart.",
		field: func(c *Config) any { return &c.KeyFile },
	},
	{
		Commands: []string{Serve, Projector, Provision, Seed, Export, Audit, Rebuild, Deadletters, Restored, Remove},
		Flag:     "database", Env: "COSMOS_DATABASE", Default: defaultDatabase,
		Meaning: "Name of the database in the account or in the embedded engine.",
		field:   func(c *Config) any { return &c.Database },
	},
	{
		Commands: []string{Serve, Projector, Seed, Copy, Export, Audit, Rebuild},
		Flag:     "background-bucket", Env: "COSMOSBLOG_BACKGROUND_BUCKET", Default: "0",
		Meaning: "Throughput bucket of background work, 1 to 5: of the projector and of these commands. The " +
			"account limits it to a percentage of each container's throughput. With 0, it is in no bucket.",
		field: func(c *Config) any { return &c.BackgroundBucket },
	},
	{
		Commands: []string{Projector},
		Flag:     "addr", Env: "COSMOSBLOG_PROJECTOR_ADDR", Default: "",
		Meaning: "Listen address for `/healthz`, `/readyz` and `/metrics`. If it is not set, the projector" +
			" does not listen.",
		field: func(c *Config) any { return &c.Addr },
	},
	{
		Commands: []string{Serve, Projector, Seed, Copy, Audit, Rebuild},
		Flag:     "lease-expire", Env: "COSMOSBLOG_LEASE_EXPIRE", Default: "20s",
		Meaning: "Time without a heartbeat after which the leases of this process expire, so that another projector takes " +
			"them over. Every quarter of it, a projector writes its heartbeat, and looks for leases to take. Other processes " +
			"may have another value. With more than 20 s, answers to mutations that change nothing may be `stale` while " +
			"nothing else is written.",
		field: func(c *Config) any { return &c.LeaseExpire },
	},
	{
		Commands: []string{Serve, Top},
		Flag:     "metrics-addr", Env: "COSMOSBLOG_METRICS_ADDR", Default: "",
		Meaning: "Separate listen address for `/healthz`, `/readyz`, `/metrics` and `/top`. It has no " +
			"authentication. In development, `/metrics` and `/top` are also at `--addr`.",
		field: func(c *Config) any { return &c.MetricsAddr },
	},
	{
		Commands: []string{Engine},
		Flag:     "addr", Env: "COSMOSBLOG_ENGINE_ADDR", Default: "127.0.0.1:8081",
		Meaning: "Listen address of the embedded engine. Port 0 selects a free port.",
		field:   func(c *Config) any { return &c.Addr },
	},
	{
		Commands: []string{Engine},
		Flag:     "tls", Env: "COSMOSBLOG_ENGINE_TLS", Default: "false",
		Meaning: "Serves https with the certificate and key in `engine-tls.pem` of the data folder. If the" +
			" file does not exist, the engine creates a self-signed certificate.",
		field: func(c *Config) any { return &c.EngineTLS },
	},
	{
		Commands: []string{Engine},
		Flag:     "key", Env: "COSMOSBLOG_ENGINE_KEY", Default: EmulatorKey,
		Meaning: "Master key of the engine in base64. The default is the well-known key of Microsoft's " +
			"emulators, which is allowed on loopback only. With it, the engine also accepts any well-formed token of Entra ID, " +
			"unverified, for items and for executing scripts. If other machines can reach the engine, " +
			"the key must have at least 32 bytes. Set it by the environment, because other users of " +
			"the machine can read command lines.",
		field: func(c *Config) any { return &c.EngineKey },
	},
	{
		Commands: []string{Engine},
		Flag:     "throughput", Env: "COSMOSBLOG_ENGINE_THROUGHPUT", Default: "0",
		Meaning: "Throughput of each container in RU/s, divided evenly among its physical ranges. A range " +
			"that has used up a second's share rejects requests with 429 and the time to wait, as the " +
			"service does. With 0, the engine never throttles.",
		field: func(c *Config) any { return &c.EngineRU },
	},
	{
		Commands: []string{Provision},
		Flag:     "throughput", Env: "COSMOS_THROUGHPUT", Default: "",
		Meaning: "Throughput of the account's containers: `autoscale:1000` (up to 1000 RU/s each), " +
			"`manual:400` or `serverless`. Single containers can differ: " +
			"`manual:400,posts=autoscale:4000`. `database=autoscale:1000` is the database's: its containers share it, except " +
			"those that are named. If it is not set, existing throughputs stay, and new containers get the account's default.",
		field: func(c *Config) any { return &c.Throughput },
	},
	{
		Commands: []string{Provision},
		Flag:     "print", Default: "",
		Meaning: "`bicep` prints a template with the same definitions instead of provisioning. It needs no" +
			" account.",
		field: func(c *Config) any { return &c.Print },
	},
	{
		Commands: []string{Provision},
		Flag:     "scripts", Default: "",
		Meaning: "`keep` keeps all former versions of scripts. Otherwise those are deleted after which two others " +
			"were registered, both more than 30 days ago. `recreate` deletes the stored procedures and the trigger and " +
			"registers them again. An account blocks those that took too long several times, until then. Without a key, " +
			"`recreate` prints what to deploy instead.",
		field: func(c *Config) any { return &c.Scripts },
	},
	{
		Commands: []string{Seed},
		Flag:     "users", Default: "100",
		Meaning: "Number of users in the data set. Each has 5 to 50 posts, with up to 25 comments and 100 " +
			"likes each.",
		field: func(c *Config) any { return &c.Users },
	},
	{
		Commands: []string{Seed},
		Flag:     "seed", Default: "1",
		Meaning: "Selects the data set. The same `--users` and `--seed` always produce the same data. Other " +
			"numbers produce data with nothing in common.",
		field: func(c *Config) any { return &c.Seed },
	},
	{
		Commands: []string{Copy},
		Flag:     "from", Default: "",
		Meaning: "Source of the copy: a data folder, or the endpoint of an account, http or https. The name of a database " +
			"other than `cosmosblog` follows a `#`, as in `folder#blog2`.",
		field: func(c *Config) any { return &c.From },
	},
	{
		Commands: []string{Copy},
		Env:      "COPY_FROM_KEY", Default: "",
		Meaning: "Key of the account in `--from`. If it is not set, `copy` signs in with Entra ID.",
		field:   func(c *Config) any { return &c.FromKey },
	},
	{
		Commands: []string{Copy},
		Flag:     "to", Default: "",
		Meaning: "Target of the copy: a data folder, which is created if it does not exist, or the " +
			"endpoint of a provisioned account. The name of a database other than `cosmosblog` follows a `#`, as in " +
			"`https://my-account.documents.azure.com#blog2`.",
		field: func(c *Config) any { return &c.To },
	},
	{
		Commands: []string{Copy},
		Env:      "COPY_TO_KEY", Default: "",
		Meaning: "Key of the account in `--to`. If it is not set, `copy` signs in with Entra ID.",
		field:   func(c *Config) any { return &c.ToKey },
	},
	{
		Commands: []string{Export},
		Flag:     "to", Default: "",
		Meaning: "Folder of the files, which the command creates. Each database needs a folder of its own.",
		field:   func(c *Config) any { return &c.ExportTo },
	},
	{
		Commands: []string{Audit},
		Flag:     "repair", Default: "false",
		Meaning: "Repairs the differences, and audits the repaired items again.",
		field:   func(c *Config) any { return &c.Repair },
	},
	{
		Commands: []string{Serve, Projector, Export, Audit, Rebuild},
		Flag:     "max-ru", Env: "COSMOSBLOG_MAX_RU", Default: "0",
		Meaning: "Maximum average RU/s that the command uses; of a projector, also in a server: that it " +
			"uses to rebuild all views after the database went back. 0 is 100 RU/s on an account (a quarter of " +
			"the smallest dedicated throughput of a container) and no limit on the embedded engine.",
		field: func(c *Config) any { return &c.MaxRU },
	},
	{
		Commands: []string{Rebuild},
		Flag:     "from-start", Default: "false",
		Meaning: "Starts over instead of resuming an interrupted rebuild.",
		field:   func(c *Config) any { return &c.FromStart },
	},
	{
		Commands: []string{Deadletters},
		Flag:     "retry", Default: "false",
		Meaning: "Projects the listed changes again, in their present state.",
		field:   func(c *Config) any { return &c.Retry },
	},
	{
		Commands: []string{Token},
		Flag:     "sub", Default: "",
		Meaning: "Subject of the token: any name. The same name is always the same account.",
		field:   func(c *Config) any { return &c.Subject },
	},
}
