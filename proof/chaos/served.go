package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"cosmosblog/cosmostest"
)

// checked is printed if the data of the folder is consistent.
const checked = "the data is consistent"

// serveAccount serves an account of cosmostest on a folder until ctx is done. kill runs it in a
// process of its own. Beside the first requests, it checks the data that the process before it
// left, and prints the result.
func serveAccount(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("account", flag.ContinueOnError)
	dir := flags.String("data", "", "`folder` of the data")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("--data is required")
	}
	options := cosmostest.Options{Dir: *dir, Key: os.Getenv(keyVariable)}
	account, err := cosmostest.Open(options)
	if err != nil {
		return err
	}
	endpoint, _ := account.Serve()
	fmt.Fprintln(out, "the account serves", endpoint)
	if err := account.Check(); err != nil {
		return errors.Join(err, account.Close())
	}
	fmt.Fprintln(out, checked)
	<-ctx.Done()
	return account.Close()
}
