package provision

// This file exports what the package's tests use.

var (
	BicepLiteral         = bicepLiteral
	ContainerDifferences = containerDifferences
	DataActions          = dataActions
)
