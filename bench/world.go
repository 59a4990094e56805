package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// world is a benchmark's program with its processes and folders.
type world struct {
	*options
	program   program
	folder    string // temporary
	processes []*process
}

func newWorld(ctx context.Context, o *options) (*world, error) {
	folder, err := os.MkdirTemp("", "cosmosblog-bench-")
	if err != nil {
		return nil, err
	}
	w := &world{options: o, program: program{o.program}, folder: folder}
	if o.program == "" {
		if w.program, err = buildProgram(ctx, folder); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// seeded returns a data folder with a data set, which must not be changed. The program seeds it
// itself, because two programs may store the same data differently.
func (w *world) seeded(ctx context.Context, name string, p program, users int) (string, error) {
	parent := w.data
	if parent == "" {
		parent = w.folder
	}
	data := filepath.Join(parent, fmt.Sprintf("%s-%d", name, users))
	fmt.Fprintf(w.progress, "%s: seeding %d users\n", name, users)
	return data, p.seed(ctx, data, users)
}

// reader starts a program on a data folder and returns its read operations.
func (w *world) reader(ctx context.Context, name string, p program, data string, arguments ...string) (*side, *blog, error) {
	process, err := p.serve(ctx, data, filepath.Join(w.folder, name+".log"), arguments...)
	if err != nil {
		return nil, nil, err
	}
	return w.readsOf(name, process)
}

// readsOf returns the read operations of a program that serves.
func (w *world) readsOf(name string, process *process) (*side, *blog, error) {
	w.processes = append(w.processes, process)
	b, err := find(process.address, w.writers)
	if err != nil {
		return nil, nil, err
	}
	s := &side{name: name, address: process.address, process: process, isCosmosblog: true, operations: map[string]*operation{}}
	anonymous := newHead(process.address, "/graphql", "", w.coding)
	for name, bodies := range b.reads() {
		var requests [][]byte
		for _, body := range bodies {
			requests = append(requests, anonymous.append(nil, body))
		}
		reads, _, err := record(process.address, requests)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		s.operations[name] = &operation{name: name, requests: reads}
	}
	return s, b, nil
}

// close kills the processes that still run, and removes the temporary folder.
func (w *world) close() {
	for _, p := range w.processes {
		_ = p.command.Process.Kill()
		<-p.ended
	}
	_ = os.RemoveAll(w.folder)
}
