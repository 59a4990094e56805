package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"cosmosblog/proof/chaos/database"
)

// checkContract parses the flags, and runs rounds of clients whose answers are checked.
func checkContract(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("contract", flag.ContinueOnError)
	seconds := flags.Int("seconds", 600, "duration of the requests of all rounds in `seconds`")
	rounds := flags.Int("rounds", 0, "number of `rounds`: with three servers and a lagging follower, three servers, one server and a follower, one server, and again. If 0, one in about 150 s, but at least four")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "`seed` of the random numbers")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *rounds == 0 {
		*rounds = 4 * max(1, *seconds/600)
	}
	folder, err := os.MkdirTemp("", "cosmosblog-chaos-")
	if err != nil {
		return err
	}
	key := make([]byte, 64)
	rand.Read(key)
	p, err := buildProgram(ctx, folder, base64.StdEncoding.EncodeToString(key))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "seed %d: %d rounds, %d s in all, with %d clients of %d accounts\n", *seed, *rounds, *seconds, clients, accounts)
	for i := range *rounds {
		r := &round{program: p, folder: filepath.Join(folder, fmt.Sprint("round-", i+1)), hasFollower: i%2 == 0, servers: mostServers, out: out,
			random: mathrand.New(mathrand.NewPCG(*seed, uint64(i)))}
		if i%4 >= 2 {
			r.servers = 1
		}
		if err := r.run(ctx, time.Duration(*seconds)*time.Second/time.Duration(*rounds)); err != nil {
			return fmt.Errorf("round %d: %w\nseed %d; data, logs and the history are in %s", i+1, err, *seed, r.folder)
		}
	}
	return os.RemoveAll(folder)
}

// round is an engine with an empty folder, some servers, three projectors, and clients.
//
// With a follower, the engine is only paused, and reads may be as old as the contract permits on an
// account. Without one, the engine is killed too, and reads show the latest state.
type round struct {
	program     program
	folder      string
	hasFollower bool
	servers     int // the number of servers
	random      *mathrand.Rand
	out         io.Writer

	database    *database.Database
	environment []string // endpoint and key of the database
	victims     []*victim
	record      *record
	people      []*person
}

const (
	mostServers = 3
	strangers   = 4
	clients     = 24 // a third of them stay at one server each, and send no session tokens
	accounts    = 16 // the first eight have two clients each
)

// cacheStaleness is the default of --cache-staleness: the greatest age of what servers keep, apart
// from their own writes.
const cacheStaleness = time.Second

// maxTrail is the longest lag of the follower, and calmTrail that in the second half of a round.
const (
	maxTrail  = time.Second
	calmTrail = 20 * time.Millisecond
)

func (r *round) run(ctx context.Context, d time.Duration) (err error) {
	defer func() { err = errors.Join(err, r.end()) }()
	if err := r.start(ctx); err != nil {
		return err
	}
	err = r.disturb(ctx, d)
	stale, caught := r.database.CatchUp()
	if err := errors.Join(err, caught); err != nil {
		return err
	}
	r.summarize(stale)
	if err := r.check(ctx); err != nil {
		return err
	}
	for _, arguments := range [][]string{{"deadletters"}, {"audit", "--max-ru", "1000000"}} {
		output, err := r.do(ctx, arguments...)
		if err != nil {
			return err
		}
		fmt.Fprintln(r.out, output)
	}
	return nil
}

// start starts all processes, with several feed ranges.
func (r *round) start(ctx context.Context) (err error) {
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return err
	}
	errorLog, err := os.Create(filepath.Join(r.folder, "database.log"))
	if err != nil {
		return err
	}
	var random *mathrand.Rand
	if r.hasFollower {
		random = r.newRandom()
	}
	if r.database, err = database.New(r.program.key, random, errorLog); err != nil {
		return err
	}
	r.environment = []string{"COSMOS_ENDPOINT=" + r.database.URL, "COSMOS_KEY=" + r.program.key}
	if err := r.addEngine(ctx); err != nil {
		return err
	}
	// A physical partition of the engine has 10,000 RU/s.
	const ranges = "manual:400,users=manual:20000,posts=manual:40000"
	if _, err := r.do(ctx, "provision", "--throughput", ranges); err != nil {
		return err
	}
	var servers []string
	for i := range r.servers {
		address, err := r.addServer(ctx, i)
		if err != nil {
			return err
		}
		servers = append(servers, address)
	}
	for i := range projectorCount {
		if err := r.addProjector(ctx, i); err != nil {
			return err
		}
	}
	return r.addPeople(ctx, servers)
}

func (r *round) newRandom() *mathrand.Rand {
	return mathrand.New(mathrand.NewPCG(r.random.Uint64(), 0))
}

// do runs the program to its end and returns its output.
func (r *round) do(ctx context.Context, arguments ...string) (string, error) {
	return r.program.do(ctx, r.environment, arguments...)
}
