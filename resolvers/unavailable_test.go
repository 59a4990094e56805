package resolvers_test

import (
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// refuse is the fault of a database to which there is no connection.
func refuse(int, *http.Request, storetest.Transporter) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// TestUnavailable checks that clients get UNAVAILABLE while the database does not answer, or
// answers that it is unavailable, with a time to wait. The errors of mutations say whether they may
// have been executed: not if no write was sent, or if the database rejected each that was (403/3,
// the answer of a region that does not write). A request without an answer may have been executed
// (azcosmos 1.5.0, classifyNetworkError).
func TestUnavailable(t *testing.T) {
	skipUnderFaults(t)
	const rename = `mutation{updateUser(input:{username:"Anna"}){user{id}}}`
	create := `mutation{createPost(input:{title:"t",content:"c",idempotencyKey:"a key of 16 bytes"}){post{id}}}`
	writes := func(fault cosmostest.Fault) cosmostest.Fault { return cosmostest.Writes(fault) }
	for _, test := range []struct {
		name, query string
		fault       cosmostest.Fault
		executed    any // nil: the error must not say
	}{
		{"a query, refused", `{feed{nodes{id}}}`, refuse, nil},
		{"a query, cut", `{feed{nodes{id}}}`, cosmostest.CutBefore, nil},
		{"a query, 503", `{feed{nodes{id}}}`, cosmostest.Refuse(503), nil},
		{"a mutation, all refused", create, refuse, false},
		{"a mutation, its reads cut", create, cosmostest.CutBefore, false},
		{"a procedure, refused", create, writes(refuse), false},
		{"a procedure, cut", create, writes(cosmostest.CutBefore), true},
		{"a procedure, its answer cut", create, writes(cosmostest.CutAfter), true},
		{"a procedure, 503", create, writes(cosmostest.Refuse(503)), true},
		{"a procedure, at other regions", create, writes(cosmostest.Refuse(403, "x-ms-substatus: 3")), false},
		{"an item, refused", rename, writes(refuse), false},
		{"an item, its answer cut", rename, writes(cosmostest.CutAfter), true},
		{"an item, at other regions", rename, writes(cosmostest.Refuse(403, "x-ms-substatus: 3")), false},
		{"the second item", rename, writes(cosmostest.From(2, refuse)), true},
		{"a mutation after another", `mutation{a:updateUser(input:{username:"Ann"}){user{id}} b:createPost(input:{title:"t",content:"c"}){post{id}}}`,
			writes(refuse), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				ann := s.user("Ann")
				s.engine.Inject(test.fault)
				begun := time.Now()
				r := ann.send(test.query)
				if len(r.Errors) == 0 {
					t.Fatalf("no error: %v", r.Data)
				}
				extensions := r.Errors[0].Extensions
				wait, _ := extensions["retryAfterMs"].(float64)
				if extensions["code"] != string(blog.Unavailable) || wait < 1 {
					t.Errorf("after %v: %v", time.Since(begun), r.Errors)
				}
				if got := extensions["mayHaveExecuted"]; fmt.Sprint(got) != fmt.Sprint(test.executed) {
					t.Errorf("mayHaveExecuted is %v, want %v", got, test.executed)
				}
			})
		})
	}
}
