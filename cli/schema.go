package cli

import (
	"context"

	"cosmosblog/graph"
)

var schemaText = text{
	short: "Prints the GraphQL schema",
	long: `Prints the GraphQL schema in SDL, and nothing else. Code generators and compilers of clients
read it. Relay's compiler requires a file name that ends in .graphql.
`,
}

func runSchema(_ context.Context, task Task) error {
	task.Printf("%s", graph.SDL())
	return nil
}
