// Command chaos kills processes at random moments and checks that acknowledged writes survive:
//
//	go run ./proof/chaos kill --times 100 --seed 1
//	go run ./proof/chaos projectors --seconds 60 --seed 1
//	go run ./proof/chaos contract --seconds 600 --seed 1
//	go run ./proof/chaos disk --times 30 --seed 1
//
// kill kills an account of package cosmostest; the others kill the program's own processes, and
// disk fills and damages their disk. Chaos uses only public interfaces: commands, the API, and
// Cosmos DB's protocol. At the first inconsistency, it prints a description, keeps the data folder
// for inspection, and exits with status 1.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// scenarios maps the first argument to the test it runs.
var scenarios = map[string]func(ctx context.Context, arguments []string, out io.Writer) error{
	"account":    serveAccount,
	"contract":   checkContract,
	"disk":       disks,
	"kill":       kill,
	"projectors": projectors,
}

// run runs the scenario of the first argument. A request for help is not an error.
func run(ctx context.Context, arguments []string, out io.Writer) error {
	if len(arguments) > 0 && scenarios[arguments[0]] != nil {
		err := scenarios[arguments[0]](ctx, arguments[1:], out)
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	return errors.New("expected a scenario: " + strings.Join(slices.Sorted(maps.Keys(scenarios)), ", "))
}

// kill parses the flags and runs the rounds.
func kill(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("kill", flag.ContinueOnError)
	times := flags.Int("times", 100, "number of `kills` of the account")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "`seed` of the random numbers")
	writers := flags.Int("writers", 64, "number of concurrent `writers`")
	most := flags.Int("writes", 4000, "maximum number of acknowledged `writes` before a kill")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cosmosblog-chaos-")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "seed %d: killing an account %d times under %d writers\n", *seed, *times, *writers)
	k := newKillTest(folder, *seed, *writers, *most, out)
	if k.program.path, err = os.Executable(); err != nil {
		return err
	}
	k.program.key = base64.StdEncoding.EncodeToString(k.key)
	err = k.run(ctx, *times)
	if err != nil {
		return fmt.Errorf("%w\nseed %d; the data is in %s", err, *seed, folder)
	}
	return os.RemoveAll(folder)
}
