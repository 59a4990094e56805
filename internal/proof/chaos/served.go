package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"cosmosblog/cosmostest"
)

// serveAccount serves an account of cosmostest on a folder until ctx is done. kill runs it in a
// process of its own. Before it serves, it checks the data that the process before it left.
func serveAccount(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("account", flag.ContinueOnError)
	dir := flags.String("data", "", "`folder` of the data")
	key := flags.String("key", "", "master `key` in base64")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("--data is required")
	}
	options := cosmostest.Options{Dir: *dir, Key: *key}
	left, err := cosmostest.Open(options)
	if err != nil {
		return err
	}
	if err := left.Close(); err != nil {
		return err
	}
	account, err := cosmostest.Open(options)
	if err != nil {
		return err
	}
	endpoint, _ := account.Serve()
	fmt.Fprintln(out, "the account serves", endpoint)
	<-ctx.Done()
	return account.Close()
}
