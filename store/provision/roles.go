package provision

// The data actions of Azure Cosmos DB's role-based access control ("Azure Cosmos DB for NoSQL data plane actions
// reference").
const (
	readMetadata     = "Microsoft.DocumentDB/databaseAccounts/readMetadata"
	containerActions = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/"
)

// dataActions are what a server, projector or copy does with a token of Entra ID, and so all that their role grants. A patch is
// counted as a replacement: there is no action of its own.
var dataActions = []string{
	readMetadata,
	containerActions + "items/create",
	containerActions + "items/read",
	containerActions + "items/replace",
	containerActions + "items/upsert",
	containerActions + "items/delete",
	containerActions + "executeQuery",
	containerActions + "readChangeFeed",
	containerActions + "executeStoredProcedure",
}
