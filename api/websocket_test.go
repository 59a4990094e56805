package api_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// socket is a WebSocket of graphql-transport-ws.
type socket struct {
	testing.TB
	*websocket.Conn
}

// dial opens a WebSocket to an API that listens on a port.
func dial(t testing.TB, listening *httptest.Server) socket {
	t.Helper()
	options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}
	connection, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(listening.URL, "http")+"/graphql", options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.CloseNow() })
	return socket{t, connection}
}

// exchange sends a message, and returns the next one, or the code with which the server closes the
// connection.
func (s socket) exchange(message string) (string, websocket.StatusCode) {
	s.Helper()
	if err := s.Write(s.Context(), websocket.MessageText, []byte(message)); err != nil {
		s.Fatal(err)
	}
	_, answer, err := s.Read(s.Context())
	return string(answer), websocket.CloseStatus(err)
}

// The query and the variables of a subscription have at most 64 KiB, and a message 65
// (docs/clients.md). A message up to its limit is read, whatever the library's own limit is.
func TestLargeMessages(t *testing.T) {
	listening := httptest.NewServer(newServer(t, inDevelopment).handler)
	defer listening.Close()
	const state, tooLarge = `"title":"A title"`, "LIMIT_EXCEEDED"
	subscribe := func(query, variables string) string {
		return `{"id":"1","type":"subscribe","payload":{"query":"` + query + `","variables":` + variables + `}}`
	}
	const query, variable = `subscription($p:ID!){postChanged(id:$p){title}}`, `"p":"p_aaaaaaaaaaaaaaaaaaaaaaaaaa"`
	id := `{` + variable + `}`
	ofQuery := func(bytes int) string { return subscribe(query+strings.Repeat(" ", bytes-len(query)), id) }
	for name, c := range map[string]struct {
		message string
		want    string
		code    websocket.StatusCode
	}{
		"above the library's limit":       {ofQuery(32 << 10), state, -1},
		"a query of 63 KiB":               {ofQuery(63 << 10), state, -1},
		"a query above 64 KiB":            {ofQuery(64<<10 + 1), tooLarge, -1},
		"variables of 50 KiB":             {subscribe(query, `{"p":"`+strings.Repeat("x", 50<<10)+`"}`), state, -1},
		"variables above 64 KiB":          {subscribe(query, `{"p":"`+strings.Repeat("x", 64<<10)+`"}`), tooLarge, -1},
		"others of 64 KiB":                {subscribe(query, `{`+variable+`,"other":"`+strings.Repeat("x", 64<<10)+`"}`), state, -1},
		"a message of the largest size":   {padded(subscribe(query, id), 65<<10), state, -1},
		"a message above the largest":     {padded(subscribe(query, id), 65<<10+1), "", websocket.StatusMessageTooBig},
		"a message far above the largest": {padded(subscribe(query, id), 1<<20), "", websocket.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			s := dial(t, listening)
			s.exchange(`{"type":"connection_init"}`)
			if got, code := s.exchange(c.message); code != c.code || !strings.Contains(got, c.want) {
				t.Errorf("got %.300s, code %d; want %s, code %d", got, code, c.want, c.code)
			}
		})
	}
}

// padded returns a message with spaces at its end.
func padded(message string, bytes int) string {
	return message + strings.Repeat(" ", bytes-len(message))
}

// An empty Authorization counts as absent, in the payload of connection_init as in a header. Apollo
// Client's documentation sends "" when nobody is signed in ("Authentication", and
// "Authenticate over WebSocket" of graphql-ws).
func TestEmptyAuthorizationOnWebSocket(t *testing.T) {
	listening := httptest.NewServer(newServer(t, nil).handler)
	defer listening.Close()
	for payload, want := range map[string]websocket.StatusCode{
		`{"Authorization":""}`:                               -1,
		`{"authorization":" \t"}`:                            -1,
		`{"Authorization":null}`:                             -1,
		`{"Authorization":"","authorization":"Bearer good"}`: -1,
		`{"Authorization":"","authorization":"Bearer bad"}`:  4403,
		`{"Authorization":"Bearer "}`:                        4403,
		`{"Authorization":0}`:                                4403,
	} {
		got, code := dial(t, listening).exchange(`{"type":"connection_init","payload":` + payload + `}`)
		if code != want || (want == -1) != (got == `{"type":"connection_ack"}`) {
			t.Errorf("%s: got %s, code %d, want code %d", payload, got, code, want)
		}
	}
}
