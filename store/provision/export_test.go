package provision

// The package's tests use these.

var (
	BicepLiteral         = bicepLiteral
	ContainerDifferences = containerDifferences
	DataActions          = dataActions
)
