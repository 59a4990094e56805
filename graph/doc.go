// Package graph holds the executable schema and the interfaces that package resolvers implements.
//
// "go generate ./..." generates it from schema.graphqls, configured by gqlgen.yml. gqlgen writes
// generated.go and model/generated.go. Package generate writes plain_generated.go, which appends
// objects of plain fields, with the help of plain.go and selection.go, and the values of events for
// event.go.
//
// This folder is not for other modules: it may change in any version.
package graph

//go:generate go run ./generate
