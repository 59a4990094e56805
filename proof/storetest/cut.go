package storetest

import (
	"errors"
	"net/http"

	"cosmosblog/cosmostest"
)

// ErrCut is the error of a connection that was cut. azcosmos waits a second before it repeats a
// read with the error of cosmostest, as it does with that of a network. It does not know this one,
// so tests with many faults do not wait.
var ErrCut = errors.New("the connection was cut")

// CutBefore is cosmostest.CutBefore with ErrCut.
func CutBefore(int, *http.Request, Transporter) (*http.Response, error) { return nil, ErrCut }

// CutAfter is cosmostest.CutAfter with ErrCut.
func CutAfter(n int, request *http.Request, next Transporter) (*http.Response, error) {
	return cosmostest.Executed(CutBefore)(n, request, next)
}

// HideItems is a fault of a restored account, whose change feeds may show only what has changed
// since: a feed that is read from the beginning is read from the present on.
func HideItems(_ int, request *http.Request, next Transporter) (*http.Response, error) {
	if request.Header.Get("A-IM") != "" && request.Header.Get("If-None-Match") == "" {
		request.Header.Set("If-None-Match", "*")
	}
	return next.Do(request)
}
