package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cosmosblog/bench/bare"
)

// beforeSide is the name of the side of an earlier build.
const beforeSide = "before"

// throughput compares the program with a bare net/http server that sends the same bytes and, if
// they are given, with an earlier program and a peer.
func throughput(ctx context.Context, o *options) (*report, error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { w.close() }()
	seeded, err := w.seeded(ctx, "seeded", w.program, o.users)
	if err != nil {
		return nil, err
	}
	servers, err := w.servers(ctx, seeded)
	if err != nil {
		return nil, err
	}
	sides := servers
	others, err := w.others(ctx, servers[0])
	if err != nil {
		return nil, err
	}
	sides = append(sides, others...)
	c, err := measure(ctx, sides, o.settings)
	if err != nil {
		return nil, err
	}
	r := newThroughputReport(o, c, servers, others)
	return r, w.end()
}

// servers starts the program under test: once, or without and with its read cache if it has one.
func (w *world) servers(ctx context.Context, seeded string) ([]*side, error) {
	hasCache, err := w.program.hasCache(ctx)
	if err != nil {
		return nil, err
	}
	if !hasCache {
		server, err := w.server(ctx, "server", w.program, seeded)
		return []*side{server}, err
	}
	cold, err := w.server(ctx, "cold", w.program, seeded, "--cache-bytes", "0")
	if err != nil {
		return nil, err
	}
	warm, err := w.server(ctx, "warm", w.program, seeded)
	return []*side{cold, warm}, err
}

// others starts the sides that the program is compared with. The bare server sends what the server
// model sends.
func (w *world) others(ctx context.Context, model *side) ([]*side, error) {
	bare, err := w.bare(ctx, model)
	if err != nil {
		return nil, err
	}
	others := []*side{bare}
	if w.before != "" {
		p := program{w.before}
		seeded, err := w.seeded(ctx, "seeded-before", p, w.users)
		if err != nil {
			return nil, err
		}
		before, err := w.server(ctx, beforeSide, p, seeded)
		if err != nil {
			return nil, err
		}
		others = append(others, before)
	}
	if w.peer != "" {
		peer, err := newPeer(w.peer, w.peerOperations, w.coding)
		if err != nil {
			return nil, err
		}
		others = append(others, peer)
	}
	return others, nil
}

// server starts a program on a copy of a data folder and returns all its operations.
func (w *world) server(ctx context.Context, name string, p program, seeded string, arguments ...string) (*side, error) {
	data := filepath.Join(w.folder, name)
	if err := copyFolder(seeded, data); err != nil {
		return nil, err
	}
	s, b, err := w.reader(ctx, name, p, data, arguments...)
	if err != nil {
		return nil, err
	}
	run := "b" + strings.ToLower(rand.Text()[:8])
	if err := b.addUsers(s.address, run, w.writers, p.tokens(ctx, data)); err != nil {
		return nil, err
	}
	for name, m := range b.writes(run) {
		s.operations[name] = &operation{name: name, isWrite: true, requests: m}
	}
	_, err = s.process.settle(ctx)
	return s, err
}

// bare starts a bare server of the answers to all reads of another side. Its requests have the
// same bodies and headers; only their paths differ.
func (w *world) bare(ctx context.Context, model *side) (*side, error) {
	pages := map[string]bare.Page{}
	requests := map[string][]string{} // paths
	for name, o := range model.operations {
		reads, ok := o.requests.(*recorded)
		if !ok {
			continue
		}
		_, answers, err := record(model.address, reads.requests)
		if err != nil {
			return nil, err
		}
		for n, a := range answers {
			path := fmt.Sprintf("/%s/%d", name, n)
			pages[path] = bare.NewPage(a.status, a.head, a.body)
			requests[name] = append(requests[name], path)
		}
	}
	p, err := startBare(ctx, pages, filepath.Join(w.folder, "bare.log"))
	if err != nil {
		return nil, err
	}
	w.processes = append(w.processes, p)
	bare := &side{name: "bare", address: p.address, process: p, operations: map[string]*operation{}}
	for name, paths := range requests {
		reads := model.operations[name].requests.(*recorded)
		same := &recorded{bodies: reads.bodies}
		for n, path := range paths {
			text := strings.Replace(string(reads.requests[n]), "POST /graphql ", "POST "+path+" ", 1)
			text = strings.Replace(text, "Host: "+model.address, "Host: "+p.address, 1)
			same.requests = append(same.requests, []byte(text))
		}
		bare.operations[name] = &operation{name: name, requests: same}
	}
	return bare, nil
}

// end ends all processes and returns an error if one of them failed.
func (w *world) end() error {
	var failures []error
	for _, p := range w.processes {
		failures = append(failures, p.end())
	}
	w.processes = nil
	return errors.Join(failures...)
}

// startBare starts a bare server of pages in a process of its own.
func startBare(ctx context.Context, pages map[string]bare.Page, log string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(pages)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, bareCommand)
	c.Stdin = bytes.NewReader(text)
	return launch(c, log)
}
