package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cosmosblog/bench/plot"
)

// accountOperations are the operations that benchmarkAccount measures.
var accountOperations = []string{"post", "feed", "comments", "posts"}

// emulatorKey is the well-known key of Microsoft's emulators, which the engine accepts.
const emulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// benchmarkAccount measures the processor time of a server that reads from an account, which is an
// engine in a process of its own. It has no read cache. In turns with it, a bare handler makes the
// same requests by azcosmos and encodes the same answers (bare.Account).
func benchmarkAccount(ctx context.Context, o *options) (*report, error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { w.close() }()
	data, err := w.seeded(ctx, "seeded", w.program, o.users)
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(w.folder, "engine")
	if err := copyFolder(data, copied); err != nil {
		return nil, err
	}
	engine, err := w.program.engine(ctx, copied, filepath.Join(w.folder, "engine.log"))
	if err != nil {
		return nil, err
	}
	account := []string{"COSMOS_ENDPOINT=http://" + engine.address, "COSMOS_KEY=" + emulatorKey, "COSMOS_DATABASE=cosmosblog"}
	sides, err := w.accountSides(ctx, account)
	w.processes = append(w.processes, engine) // ends last
	if err != nil {
		return nil, err
	}
	c, err := measure(ctx, sides, o.settings)
	if err != nil {
		return nil, err
	}
	return newAccountReport(o, c), w.end()
}

// accountSides starts the server and the bare handler on an account.
func (w *world) accountSides(ctx context.Context, account []string) ([]*side, error) {
	serve := exec.CommandContext(ctx, w.program.path, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(w.folder, "server"),
		"--cache-bytes", "0", "--projector=false")
	serve.Env = account
	process, err := launch(serve, filepath.Join(w.folder, "server.log"))
	if err != nil {
		return nil, err
	}
	server, _, err := w.readsOf("server", process)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	handler := exec.CommandContext(ctx, self, bareAccountCommand)
	handler.Env = account
	if process, err = launch(handler, filepath.Join(w.folder, "bare.log")); err != nil {
		return nil, err
	}
	w.processes = append(w.processes, process)
	bare := &side{name: "bare", address: process.address, process: process, operations: map[string]*operation{}}
	for _, name := range accountOperations {
		reads := server.operations[name].requests.(*recorded)
		same := &recorded{bodies: reads.bodies}
		for _, request := range reads.requests {
			text := strings.Replace(string(request), "POST /graphql ", "POST /"+name+"/"+idIn(request)+" ", 1)
			same.requests = append(same.requests, []byte(strings.Replace(text, "Host: "+server.address, "Host: "+bare.address, 1)))
		}
		bare.operations[name] = &operation{name: name, requests: same}
	}
	return []*side{server, bare}, nil
}

// idIn returns the variable id of a GraphQL request, or "none".
func idIn(request []byte) string {
	_, after, found := strings.Cut(string(request), `"id":"`)
	if !found {
		return "none"
	}
	id, _, _ := strings.Cut(after, `"`)
	return id
}

func newAccountReport(o *options, c comparison) *report {
	r := newReport(o, c)
	r.table.header = []string{"", "Processor time, µs", "Of the bare handler, µs", "Ratio", "Requests/s"}
	r.plot = &plot.Plot{Title: "Processor time of a read from an account, in µs", Names: []string{"server", "bare handler"}}
	for _, operation := range o.operations {
		server, bare := newRow(c, operation, "server", "bare"), newRow(c, operation, "bare")
		r.Rows = append(r.Rows, server, bare)
		ratio := "not measured"
		points := plot.Row{Label: operationTitles[operation]}
		if server.ProcessorMicros != nil && bare.ProcessorMicros != nil && *bare.ProcessorMicros > 0 {
			ratio = fmt.Sprintf("%.2f", *server.ProcessorMicros / *bare.ProcessorMicros)
			points.Values = []float64{*server.ProcessorMicros, *bare.ProcessorMicros}
		}
		r.plot.Rows = append(r.plot.Rows, points)
		r.table.add(operationTitles[operation], optional(server.ProcessorMicros), optional(bare.ProcessorMicros), ratio, plot.Number(server.RequestsPerSecond))
	}
	return r
}
