//go:build deps

package main

import (
	_ "github.com/99designs/gqlgen/client"
	_ "github.com/99designs/gqlgen/graphql/handler"
	_ "github.com/Azure/azure-sdk-for-go/sdk/azcore"
	_ "github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	_ "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	_ "github.com/cockroachdb/pebble/v2"
	_ "github.com/dop251/goja"
	_ "github.com/golang-jwt/jwt/v5"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/hashicorp/golang-lru/v2"
	_ "github.com/spf13/cobra"
	_ "github.com/vektah/gqlparser/v2"
	_ "github.com/wundergraph/graphql-go-tools/pkg/playground"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sync/singleflight"
	_ "pgregory.net/rapid"
)
