package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
)

// page is a recorded answer with its headers.
type page struct {
	Status int
	Header http.Header
	Body   []byte
}

// newPage returns the page of an answer. Date and Connection are left out, because net/http adds
// them.
func newPage(a answer) page {
	p := page{Status: a.status, Header: http.Header{}, Body: a.body}
	_, lines, _ := bytes.Cut(a.head, []byte("\r\n"))
	for line := range bytes.SplitSeq(lines, []byte("\r\n")) {
		name, value, found := bytes.Cut(line, []byte(":"))
		if key := http.CanonicalHeaderKey(string(name)); found && key != "Date" && key != "Connection" {
			p.Header[key] = append(p.Header[key], string(bytes.TrimSpace(value)))
		}
	}
	return p
}

// serveBare is the command of the bare server's process. It reads pages by path from input and
// serves them with net/http alone, until ctx ends.
func serveBare(ctx context.Context, input io.Reader, output io.Writer) error {
	var pages map[string]page
	if err := json.NewDecoder(input).Decode(&pages); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: bare(pages)}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(output, "Pages are at http://%s/\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// bare serves recorded pages. It reads the whole request first, as a GraphQL server must.
type bare map[string]page

func (b bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	p, ok := b[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	for key, values := range p.Header {
		header[key] = values
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.Body) // fails if the client has disconnected
}

// startBare starts a bare server of pages in a process of its own.
func startBare(ctx context.Context, pages map[string]page, log string) (*process, error) {
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
