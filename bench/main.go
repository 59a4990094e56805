// Command bench measures the real program, in processes of its own, through its API:
//
//	go run ./bench throughput
//	go run ./bench throughput --before OLD_PROGRAM --only feed,page
//
// Each command compares servers in turns, in short slices, so that other load on the machine
// affects all of them. It fails at the first answer that is an error or not the expected one.
// docs/benchmarks.md describes the commands and has their results.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bareCommand is the internal command of the bare server's process.
const bareCommand = "bare"

// commands maps the first argument to the benchmark it runs.
var commands = map[string]func(context.Context, *options) (*report, error){
	"throughput": throughput,
}

// run runs the command of the first argument. A request for help is not an error.
func run(ctx context.Context, arguments []string, input io.Reader, output, progress io.Writer) error {
	if len(arguments) == 1 && arguments[0] == bareCommand {
		return serveBare(ctx, input, output)
	}
	if len(arguments) == 0 || commands[arguments[0]] == nil {
		return errors.New("expected a command: " + strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	o, err := parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	// One processor is enough for the generator, and its threads then do not look for work on the
	// others, which belong to the servers.
	runtime.GOMAXPROCS(1)
	o.progress = progress
	r, err := commands[arguments[0]](ctx, o)
	if err != nil {
		return err
	}
	if o.json {
		encoder := json.NewEncoder(output)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	_, err = fmt.Fprint(output, r.section())
	return err
}

// options are the flags of all commands.
type options struct {
	settings
	arguments      []string
	users          int
	program        string
	before         string
	peer           string
	peerOperations string
	data           string
	json           bool
}

// parse parses the flags of a command.
func parse(arguments []string) (*options, error) {
	o := &options{arguments: arguments}
	f := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 20, "number of `rounds`; in each, every server takes one turn with each operation")
	f.DurationVar(&o.slice, "slice", 250*time.Millisecond, "`duration` of a turn")
	f.IntVar(&o.connections, "connections", 32, "number of `connections`, each with one request at a time")
	f.IntVar(&o.users, "users", 50, "number of `users` in the data set")
	f.StringVar(&o.coding, "accept-encoding", "", "Accept-Encoding of all reads, such as `gzip`")
	only := f.String("only", strings.Join(operationNames, ","), "`operations` to measure, separated by commas")
	f.StringVar(&o.program, "program", "", "`path` of the program; if empty, it is built")
	f.StringVar(&o.before, "before", "", "`path` of another program to compare with, such as an earlier build")
	f.StringVar(&o.peer, "peer", "", "`URL` of another GraphQL server to compare with; needs --peer-operations")
	f.StringVar(&o.peerOperations, "peer-operations", "", "`path` of the peer's requests: lines of JSON")
	f.StringVar(&o.data, "data", "", "`folder` that keeps the seeded data for later runs; if empty, it is temporary")
	f.BoolVar(&o.json, "json", false, "print JSON")
	if err := f.Parse(arguments[1:]); err != nil {
		return nil, err
	}
	o.operations = strings.Split(*only, ",")
	for _, name := range o.operations {
		if !slices.Contains(operationNames, name) {
			return nil, fmt.Errorf("--only: unknown operation %q", name)
		}
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.rounds < 1 || o.connections < 1 || o.users < 1 || o.slice <= 0:
		return nil, errors.New("--rounds, --connections, --users and --slice must be positive")
	case (o.peer == "") != (o.peerOperations == ""):
		return nil, errors.New("--peer and --peer-operations need each other")
	}
	return o, nil
}

// command returns the command line that repeats the benchmark.
func (o *options) command() string { return "go run ./bench " + strings.Join(o.arguments, " ") }

// describe returns the settings for the report.
func (o *options) describe() map[string]any {
	return map[string]any{"rounds": o.rounds, "slice": o.slice.String(), "connections": o.connections, "acceptEncoding": o.coding}
}
