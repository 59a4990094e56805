// Package bare serves recorded answers with net/http alone, to compare servers with it.
package bare

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Page is a recorded answer with its headers.
type Page struct {
	Status int
	Header http.Header
	Body   []byte
}

// NewPage returns the page of an answer, whose head is the status line and the header lines. Date
// and Connection are left out, because net/http adds them.
func NewPage(status int, head, body []byte) Page {
	p := Page{Status: status, Header: http.Header{}, Body: body}
	_, lines, _ := bytes.Cut(head, []byte("\r\n"))
	for line := range bytes.SplitSeq(lines, []byte("\r\n")) {
		name, value, found := bytes.Cut(line, []byte(":"))
		if key := http.CanonicalHeaderKey(string(name)); found && key != "Date" && key != "Connection" {
			p.Header[key] = append(p.Header[key], string(bytes.TrimSpace(value)))
		}
	}
	return p
}

// Serve reads pages by path from input and serves them, until ctx ends. It writes its address to
// output.
func Serve(ctx context.Context, input io.Reader, output io.Writer) error {
	var pages map[string]Page
	if err := json.NewDecoder(input).Decode(&pages); err != nil {
		return err
	}
	return serve(ctx, output, Handler(pages))
}

// serve serves a handler until ctx ends, and writes its address to output.
func serve(ctx context.Context, output io.Writer, h http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(output, "Pages are at http://%s/\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Handler serves recorded pages. It reads the whole request first, as a GraphQL server must.
type Handler map[string]Page

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	p, ok := h[r.URL.Path]
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
