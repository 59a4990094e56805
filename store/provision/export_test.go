package provision

// Exported for the package's tests.

var (
	BicepLiteral         = bicepLiteral
	ContainerDifferences = containerDifferences
	DataActions          = dataActions
)
