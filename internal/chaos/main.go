// Command chaos ends the program at random moments, and looks whether what it acknowledged is there afterwards:
//
//	go run ./internal/chaos kill --times 100 --seed 1
//	go run ./internal/chaos projectors --seconds 60 --seed 1
//
// It uses the program as everybody can: its commands, its API, and the protocol of its engine. It ends with 1 at the first
// thing that is not as it must be, says what it is, and leaves the data folder for whoever looks into it.
package main

import (
	"context"
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

// storms are what can be done to the program, by the first argument.
var storms = map[string]func(ctx context.Context, arguments []string, out io.Writer) error{
	"kill":       kill,
	"projectors": projectors,
}

// run does what the first argument says. To be asked for help is no error.
func run(ctx context.Context, arguments []string, out io.Writer) error {
	if len(arguments) > 0 && storms[arguments[0]] != nil {
		err := storms[arguments[0]](ctx, arguments[1:], out)
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	return errors.New("name what to do: " + strings.Join(slices.Sorted(maps.Keys(storms)), ", "))
}

// kill reads its settings and runs the rounds.
func kill(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("kill", flag.ContinueOnError)
	times := flags.Int("times", 100, "how often the engine is killed")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "of what is random")
	writers := flags.Int("writers", 64, "how many write at once")
	most := flags.Int("writes", 4000, "the most writes that are acknowledged before a kill")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cosmosblog-chaos-")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "seed %d: the engine is killed %d times under %d writers\n", *seed, *times, *writers)
	err = newKilling(folder, *seed, *writers, *most, out).run(ctx, *times)
	if err != nil {
		return fmt.Errorf("%w\nthe seed is %d, and the data is in %s", err, *seed, folder)
	}
	return os.RemoveAll(folder)
}
