package engine

// Limits of the service (limits page of Azure Cosmos DB).
const (
	maxItemBytes         = 2 << 20
	maxRequestBytes      = 2 << 20
	maxPageBytes         = 4 << 20
	maxPartitionKeyBytes = 2048
	maxBatchOperations   = 100
	maxPatchOperations   = 10
	maxNameLength        = 255
	defaultPageSize      = 100
	maxPageSize          = 1000 // if the client leaves the size to the server
	maxTTL               = 1<<31 - 1
	maxIndexingPaths     = 1500
	maxCompositeIndexes  = 100
	maxProcedures        = 100 // of a container
)
