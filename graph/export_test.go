package graph

// WithoutPlainFields calls do while gqlgen resolves all fields. No operation may run meanwhile,
// except those of do.
func WithoutPlainFields(do func()) {
	noPlainFields = true
	defer func() { noPlainFields = false }()
	do()
}
