package provision

// Exported for the package's tests.

var (
	BicepLiteral = bicepLiteral
	DataActions  = dataActions
)
