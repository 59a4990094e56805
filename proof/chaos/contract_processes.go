package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// add starts a process and adds it to the victims.
func (r *round) add(ctx context.Context, v *victim) (err error) {
	v.random = r.newRandom()
	v.running, err = v.start(ctx)
	if err == nil {
		r.victims = append(r.victims, v)
	}
	return err
}

// log returns the name of the log of a process, relative to the program.
func (r *round) log(name string) string { return filepath.Join(filepath.Base(r.folder), name+".log") }

// addEngine adds the engine. Its address changes each time it starts; that of the database stays.
func (r *round) addEngine(ctx context.Context) error {
	v := &victim{name: "engine", killShare: 0.8, quiet: span{0, 6 * time.Second}, disruption: span{0, time.Second}, isCalmLater: true,
		killed: func(time.Time) { r.database.Engine.Store(nil) }}
	if r.hasFollower {
		v.killShare = 0
	}
	v.start = func(ctx context.Context) (*daemon, error) {
		d, err := r.program.daemon(ctx, r.log("engine"), nil, serves,
			"engine", "--addr", "127.0.0.1:0", "--data", filepath.Join(r.folder, "engine"))
		if err != nil {
			return nil, err
		}
		address, err := url.Parse(d.announced)
		r.database.Engine.Store(address)
		return d, err
	}
	return r.add(ctx, v)
}

// serverData returns the folder of the servers' key of tokens, which all of them accept.
func (r *round) serverData() string { return filepath.Join(r.folder, "server") }

// addServer adds a server without a projector, and returns the URL of its API. The first start
// chooses the port.
func (r *round) addServer(ctx context.Context, i int) (string, error) {
	address := "127.0.0.1:0"
	v := &victim{name: fmt.Sprint("server ", i), killShare: 0.5, quiet: span{0, 4 * time.Second},
		disruption: span{0, 4 * time.Second}, killed: func(begun time.Time) { r.record.addKill(i, begun) }}
	v.start = func(ctx context.Context) (*daemon, error) {
		d, err := r.program.daemon(ctx, r.log(fmt.Sprint("server-", i)), r.environment, answersAt,
			"serve", "--projector=false", "--addr", address, "--data", r.serverData())
		if err != nil {
			return nil, err
		}
		at, err := url.Parse(d.announced)
		if err == nil {
			address = at.Host
		}
		return d, err
	}
	if err := r.add(ctx, v); err != nil {
		return "", err
	}
	return v.running.announced, nil
}

func (r *round) addProjector(ctx context.Context, i int) error {
	v := &victim{name: fmt.Sprint("projector ", i), killShare: 0.5, quiet: span{0, 4 * time.Second},
		disruption: span{0, 2 * leaseExpire}, isCalmLater: true}
	v.start = func(ctx context.Context) (*daemon, error) {
		return startProjector(ctx, r.program, r.environment, r.log(fmt.Sprint("projector-", i)))
	}
	return r.add(ctx, v)
}

// disturb runs the clients for a while, and disturbs all processes meanwhile: the engine and the
// projectors only in the first half, in which the follower lags most. In the second half, views are
// often in time, so that feeds must show what their clients have written.
func (r *round) disturb(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	first, end := context.WithTimeout(ctx, d/2)
	defer end()
	r.database.Trail(maxTrail)
	defer context.AfterFunc(first, func() { r.database.Trail(calmTrail) })()
	var group sync.WaitGroup
	found := make([]error, len(r.victims))
	for i, v := range r.victims {
		until := ctx
		if v.isCalmLater {
			until = first
		}
		group.Go(func() {
			if found[i] = v.disturb(until); found[i] != nil {
				cancel()
			}
		})
	}
	for _, p := range r.people {
		group.Go(func() { p.act(ctx) })
	}
	group.Wait()
	return errors.Join(found...)
}

// summarize prints what happened in the round.
func (r *round) summarize(stale int) {
	var victims []string
	for _, v := range r.victims {
		victims = append(victims, fmt.Sprintf("%s %d/%d", v.name, v.kills, v.pauses))
	}
	fmt.Fprintf(r.out, "killed/paused: %s; %d reads from an older state; %s\n", strings.Join(victims, ", "), stale, r.record)
}

// end ends all processes, the engine last.
func (r *round) end() error {
	var failed error
	for i := len(r.victims) - 1; i >= 0; i-- {
		if err := r.victims[i].running.end(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", r.victims[i].name, err))
		}
	}
	if r.database != nil {
		failed = errors.Join(failed, r.database.End())
	}
	return failed
}
