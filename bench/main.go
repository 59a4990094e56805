// Command bench measures the real program, in processes of its own, through its API, and compares
// the article's models:
//
//	go run ./bench throughput
//	go run ./bench throughput --before OLD_PROGRAM --only feed,page
//	go run ./bench growth
//	go run ./bench account
//	go run ./bench projector
//	go run ./bench models
//	go run ./bench waits
//	go run ./bench subscriptions
//	go run ./bench attack
//	go run ./bench idle
//
// The first three compare servers in turns, in short slices, so that other load on the machine
// affects all of them. They fail at the first answer that is an error or not the expected one.
// docs/benchmarks.md describes the commands and has their results, docs/models.md those of models,
// docs/azure.md those of idle.
//
// This folder is not for other modules: it may change in any version.
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
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"cosmosblog/bench/bare"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bareCommand is the internal command of the bare server's process.
const bareCommand = "bare"

// bareAccountCommand is the internal command of the process that reads from an account without the
// program.
const bareAccountCommand = "bare-account"

// commands maps the first argument to the benchmark it runs.
var commands = map[string]func(context.Context, *options) (*report, error){
	"account":       benchmarkAccount,
	"attack":        benchmarkAttack,
	"growth":        growth,
	"models":        benchmarkModels,
	"projector":     benchmarkProjector,
	"subscriptions": benchmarkSubscriptions,
	"throughput":    throughput,
	"waits":         benchmarkWaits,
}

// run runs the command of the first argument. A request for help is not an error.
func run(ctx context.Context, arguments []string, input io.Reader, output, progress io.Writer) error {
	if len(arguments) == 1 && arguments[0] == bareCommand {
		return bare.Serve(ctx, input, output)
	}
	if len(arguments) == 1 && arguments[0] == bareAccountCommand {
		return bare.ServeAccount(ctx, output)
	}
	if len(arguments) == 1 && arguments[0] == idleCommand {
		return idle(ctx, output, progress)
	}
	if len(arguments) == 0 || commands[arguments[0]] == nil {
		return errors.New("expected a command: " + strings.Join(append(slices.Sorted(maps.Keys(commands)), idleCommand), ", "))
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
	if o.name != "models" { // whose engine is in this process
		runtime.GOMAXPROCS(1)
	}
	o.progress = progress
	r, err := commands[arguments[0]](ctx, o)
	if ctx.Err() != nil { // the signal also ended the servers, which causes other errors
		left, _ := errors.AsType[*leftError](err)
		if left == nil {
			return errors.New("interrupted")
		}
		return fmt.Errorf("interrupted: %w", left)
	}
	if err != nil {
		return err
	}
	return r.publish(o, output)
}

// publish prints the report, and writes the documents and plots that the options name.
func (r *report) publish(o *options, output io.Writer) error {
	if o.plot != "" {
		if err := os.WriteFile(o.plot, []byte(r.plot.SVG()), 0o644); err != nil {
			return err
		}
	}
	if o.write != "" {
		if err := r.write(o.write); err != nil {
			return err
		}
	}
	if !o.json {
		_, err := fmt.Fprint(output, r.section())
		return err
	}
	return r.encode(output)
}

// options are the flags of all commands.
type options struct {
	settings
	name           string // of the command
	command        string // that repeats the benchmark
	users          int
	writers        int // users who comment and like, and as many to rename
	sizes          int // number of data sets of growth
	samples        int // executions of each operation of models, of each kind of write of waits, and likes of subscriptions
	subscribers    int // of subscriptions, at most
	throughput     int // of users and posts of models, in RU/s
	database       string
	program        string
	before         string
	peer           string
	peerOperations string
	data           string
	json           bool
	plot           string
	write          string
}

// parse parses the flags of a command.
func parse(arguments []string) (*options, error) {
	o := &options{name: arguments[0], settings: settings{operations: operationNames}, writers: 1}
	f := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.plot, "plot", "", "write the plot to a `file`: SVG")
	f.StringVar(&o.write, "write", "", "`path` of a document: write the command's section, its plot in the folder plots, "+
		"and the figures of models for the pages in the browser")
	only := ""
	switch arguments[0] {
	case "projector":
		f.IntVar(&o.rounds, "rounds", 3, "number of `runs`, of which the median counts")
	case "models":
		o.rounds = 1
		f.IntVar(&o.users, "users", 200, "number of `users` in the data set")
		f.IntVar(&o.samples, "samples", 50, "`number` of executions of each operation")
		f.IntVar(&o.throughput, "throughput", 0, "`RU/s` of each of users and posts: 10,000 for each physical partition. "+
			"Required with COSMOS_ENDPOINT; without, 110,000")
		f.StringVar(&o.database, "database", "cosmosblog-models", "beginning of the `names` of the databases, which must not exist")
	case "waits":
		o.rounds = 1
		f.IntVar(&o.samples, "samples", 1000, "`number` of writes of each kind")
		f.StringVar(&o.program, "program", "", "`path` of the program; if empty, it is built")
	case "subscriptions":
		o.rounds = 1
		f.IntVar(&o.samples, "samples", 100, "`number` of likes for each number of subscribers")
		f.IntVar(&o.subscribers, "subscribers", 10_000, "greatest `number` of subscribers")
		f.StringVar(&o.program, "program", "", "`path` of the program; if empty, it is built")
	case "attack":
		o.rounds = 1
		f.DurationVar(&o.slice, "slice", 10*time.Second, "`duration` of each measurement")
		f.StringVar(&o.program, "program", "", "`path` of the program; if empty, it is built")
	case "account":
		o.operations = accountOperations
		o.loadFlags(f, &only)
		f.IntVar(&o.users, "users", 50, "number of `users` in the data set")
	case "growth":
		o.loadFlags(f, &only)
		f.IntVar(&o.users, "users", 20, "number of `users` in the smallest data set")
		f.IntVar(&o.sizes, "sizes", len(growthFactors), "`number` of data sets; each has ten times the users of the one before")
	case "throughput":
		o.loadFlags(f, &only)
		f.IntVar(&o.users, "users", 50, "number of `users` in the data set")
		f.IntVar(&o.writers, "writers", 64, "`number` of users who comment and like, and of users who are renamed")
		f.StringVar(&o.before, "before", "", "`path` of another program to compare with, such as an earlier build")
		f.StringVar(&o.peer, "peer", "", "`URL` of another GraphQL server to compare with; needs --peer-operations")
		f.StringVar(&o.peerOperations, "peer-operations", "", "`path` of the peer's requests: lines of JSON")
	}
	if err := f.Parse(arguments[1:]); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if only != "" {
		o.operations = strings.Split(only, ",")
	}
	o.command = commandOf(f)
	return o, o.check()
}

// loadFlags adds the flags of commands that send requests.
func (o *options) loadFlags(f *flag.FlagSet, only *string) {
	f.IntVar(&o.rounds, "rounds", 20, "number of `rounds`; in each, every server takes one turn with each operation")
	f.DurationVar(&o.slice, "slice", 250*time.Millisecond, "`duration` of a turn")
	f.IntVar(&o.connections, "connections", 32, "number of `connections`, each with one request at a time")
	f.StringVar(&o.coding, "accept-encoding", "", "Accept-Encoding of all reads, such as `gzip`")
	f.StringVar(only, "only", "", "`operations` to measure, separated by commas; if empty, all: "+strings.Join(operationNames, ","))
	f.StringVar(&o.program, "program", "", "`path` of the program; if empty, it is built")
	f.StringVar(&o.data, "data", "", "`folder` that keeps the seeded data for later runs; if empty, it is temporary")
}

// check returns an error if the flags do not fit.
func (o *options) check() error {
	for _, name := range o.operations {
		if !slices.Contains(operationNames, name) {
			return fmt.Errorf("--only: unknown operation %q", name)
		}
	}
	switch isLoad := o.name == "growth" || o.name == "throughput" || o.name == "account"; {
	case o.name == "models" && o.write != "" && os.Getenv(endpointVariable) != "":
		return errors.New("--write is for the figures of the embedded engine, not of " + endpointVariable)
	case o.name == "models" && o.write != "" && !isFolder(filepath.Join(filepath.Dir(o.write), filepath.Dir(pageFigures))):
		return fmt.Errorf("--write: the document must be in docs of the repository, beside %s", pageFigures)
	case o.name == "models" && (o.users < 1 || o.samples < 1 || o.throughput < 0):
		return errors.New("--users and --samples must be positive")
	case o.name == "subscriptions" && (o.samples < 1 || o.subscribers < 1):
		return errors.New("--samples and --subscribers must be positive")
	case o.name == "waits" && o.samples < 1:
		return errors.New("--samples must be positive")
	case o.rounds < 1 || isLoad && (o.connections < 1 || o.users < 1 || o.slice <= 0):
		return errors.New("--rounds, --connections, --users and --slice must be positive")
	case o.name == "throughput" && o.writers < 1:
		return errors.New("--writers must be positive")
	case o.name == "growth" && (o.sizes < 2 || o.sizes > len(growthFactors)):
		return fmt.Errorf("--sizes must be from 2 to %d", len(growthFactors))
	case (o.peer == "") != (o.peerOperations == ""):
		return errors.New("--peer and --peer-operations need each other")
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// placeholders replace the values of flags that are paths and addresses of one machine. Flags
// with an empty one do not change the results.
var placeholders = map[string]string{
	"data": "", "json": "", "plot": "", "program": "", "write": "",
	"before": "PROGRAM", "peer": "URL", "peer-operations": "FILE",
}

// commandOf returns the command line that repeats a benchmark, from its parsed flags.
func commandOf(f *flag.FlagSet) string {
	command := "go run ./bench " + f.Name()
	f.Visit(func(given *flag.Flag) {
		value, isHidden := placeholders[given.Name]
		if !isHidden {
			value = given.Value.String()
		}
		if value != "" {
			command += " --" + given.Name + " " + value
		}
	})
	return command
}
