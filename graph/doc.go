// Package graph holds the executable schema and the interfaces that package resolvers implements.
// gqlgen generates it from schema.graphqls, configured by gqlgen.yml. Only this file is written by
// hand.
package graph

//go:generate go tool gqlgen generate

// SDL returns the text of schema.graphqls, the schema that generated.go was generated from.
func SDL() string { return sources[0].Input }
