package provision

// Data actions of Azure Cosmos DB's role-based access control ("Azure Cosmos DB for NoSQL data
// plane actions reference").
const (
	readMetadata     = "Microsoft.DocumentDB/databaseAccounts/readMetadata"
	containerActions = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/"
)

// dataActions are the data actions that servers, projectors and copies perform with an Entra ID
// token. Their role grants exactly these. A patch counts as a replace: it has no action of its
// own.
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
