// Package graph is generated from schema.graphqls as gqlgen.yml says: the executable schema, and the interfaces that
// package resolvers implements. Nothing in it is written by hand but this file.
package graph

//go:generate go tool gqlgen generate
