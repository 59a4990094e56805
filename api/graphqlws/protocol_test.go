package graphqlws

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
)

const (
	initMessage  = `> {"type":"connection_init"}`
	ack          = `< {"type":"connection_ack"}`
	typeFault    = `x 4400 The message has an unknown type`
	jsonFault    = `x 4400 The message is not an acceptable JSON object`
	idFault      = `x 4400 The message needs an id of 1 to 128 bytes`
	payloadFault = `x 4400 The message has an invalid payload`
)

func subscribe(id, query string) string {
	return `> {"id":"` + id + `","type":"subscribe","payload":{"query":"` + query + `"}}`
}

func complete(id string) string { return `> {"id":"` + id + `","type":"complete"}` }

// conversations have the steps of a conversation after connection_ack.
var conversations = map[string][]string{
	"no response":          {subscribe("1", "none"), `< {"id":"1","type":"complete"}`},
	"two responses":        {subscribe("1", "two"), `< {"id":"1","type":"next","payload":1}`, `< {"id":"1","type":"next","payload":2}`, `< {"id":"1","type":"complete"}`},
	"the id is free again": {subscribe("1", "none"), `< {"id":"1","type":"complete"}`, subscribe("1", "none"), `< {"id":"1","type":"complete"}`},
	"no complete after error": {subscribe("1", "errors"), `< {"id":"1","type":"next","payload":1}`, `< {"id":"1","type":"error","payload":["no"]}`,
		subscribe("1", "none"), `< {"id":"1","type":"complete"}`},
	"a panic ends its operation": {subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`, subscribe("2", "panic"), `< {"id":"2","type":"error","payload":["panic"]}`,
		`> {"type":"ping"}`, `< {"type":"pong"}`},
	"nothing after the client's complete": {subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`, complete("1"), `> {"type":"ping"}`, `< {"type":"pong"}`,
		subscribe("1", "none"), `< {"id":"1","type":"complete"}`},
	"complete of an unknown id": {complete("7"), `> {"type":"ping"}`, `< {"type":"pong"}`},
	"too many operations": {subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`, subscribe("2", "wait"), `< {"id":"2","type":"next","payload":1}`,
		subscribe("3", "none"), `< {"id":"3","type":"error","payload":["too many"]}`,
		complete("1"), subscribe("3", "none"), `< {"id":"3","type":"complete"}`},
	"parameters": {`> {"id":"1","type":"subscribe","payload":{"query":"q","operationName":"o","variables":{"v":1.0},"extensions":{"e":null},"more":1},"more":1}`,
		`< {"id":"1","type":"next","payload":{"query":"q","operationName":"o","variables":{"v":1.0},"extensions":{"e":null}}}`, `< {"id":"1","type":"complete"}`},
	"null parameters": {`> {"id":"1","type":"subscribe","payload":{"query":"q","operationName":null,"variables":null,"extensions":null}}`,
		`< {"id":"1","type":"next","payload":{"query":"q","operationName":"","variables":null,"extensions":null}}`, `< {"id":"1","type":"complete"}`},
	"an id instead of a query": {`> {"id":"1","type":"subscribe","payload":{"documentId":"d"}}`, `< {"id":"1","type":"next","payload":"d"}`, `< {"id":"1","type":"complete"}`},
	"an id of another type":    {`> {"id":"1","type":"subscribe","payload":{"documentId":1}}`, `x 4400 The message has an invalid payload`},
	"a hash instead of a query": {`> {"id":"1","type":"subscribe","payload":{"extensions":{}}}`,
		`< {"id":"1","type":"next","payload":{"query":"","operationName":"","variables":null,"extensions":{}}}`, `< {"id":"1","type":"complete"}`},
	"the context of Init": {subscribe("1", "user"), `< {"id":"1","type":"next","payload":"ada"}`, `< {"id":"1","type":"complete"}`},
	"an odd id":           {subscribe(`\" \u00e9<`, "none"), `< {"id":"\" ` + "é" + `\u003c","type":"complete"}`},
	"a long id":           {subscribe(strings.Repeat("i", 128), "none"), `< {"id":"` + strings.Repeat("i", 128) + `","type":"complete"}`},

	"ping":              {`> {"type":"ping"}`, `< {"type":"pong"}`},
	"ping with null":    {`> {"type":"ping","payload":null}`, `< {"type":"pong"}`},
	"ping with nothing": {`> {"type":"ping","payload":{}}`, `< {"type":"pong","payload":{}}`},
	"ping with payload": {`> {"type":"ping","payload":{"a":[1.50,"<"]}}`, `< {"type":"pong","payload":{"a":[1.50,"<"]}}`},
	"pong":              {`> {"type":"pong"}`, `> {"type":"pong","payload":{"a":1}}`, `> {"type":"ping"}`, `< {"type":"pong"}`},

	"second init":            {initMessage, `x 4429 Too many initialisation requests`},
	"id in use":              {subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`, subscribe("1", "none"), `x 4409 Subscriber already exists`},
	"not JSON":               {`> {`, jsonFault},
	"a repeated member":      {`> {"type":"ping","type":"pong"}`, jsonFault},
	"a list":                 {`> []`, jsonFault},
	"an empty message":       {`> `, jsonFault},
	"invalid UTF-8":          {"> {\"type\":\"\xff\"}", jsonFault},
	"no type":                {`> {}`, typeFault},
	"an unknown type":        {`> {"type":"start"}`, typeFault},
	"a type of servers":      {`> {"type":"next","id":"1"}`, typeFault},
	"a type that is none":    {`> {"type":["ping"]}`, typeFault},
	"no id":                  {`> {"type":"subscribe","payload":{"query":"none"}}`, idFault},
	"a number as an id":      {`> {"id":1,"type":"subscribe","payload":{"query":"none"}}`, idFault},
	"an empty id":            {subscribe("", "none"), idFault},
	"an id that is too long": {subscribe(strings.Repeat("i", 129), "none"), idFault},
	"complete without id":    {`> {"type":"complete"}`, idFault},
	"no payload":             {`> {"id":"1","type":"subscribe"}`, payloadFault},
	"a text as the payload":  {`> {"id":"1","type":"subscribe","payload":"none"}`, payloadFault},
	"no query":               {`> {"id":"1","type":"subscribe","payload":{}}`, payloadFault},
	"a number as the query":  {`> {"id":"1","type":"subscribe","payload":{"query":1}}`, payloadFault},
	"variables as a list":    {`> {"id":"1","type":"subscribe","payload":{"query":"none","variables":[]}}`, payloadFault},
	"a list in ping":         {`> {"type":"ping","payload":[]}`, payloadFault},
	"a list in pong":         {`> {"type":"pong","payload":[]}`, payloadFault},
	"a message of the limit": {`> {"type":"ping"` + strings.Repeat(" ", 1985) + `}`, `< {"type":"pong"}`},
	"a message above it":     {`> {"type":"ping"` + strings.Repeat(" ", 1986) + `}`, `x 1009 The message is too large`},
	"a message far above it": {`> ` + strings.Repeat(" ", 1_000_000), `x 1009 The message is too large`},
}

func TestConversations(t *testing.T) {
	for name, steps := range conversations {
		t.Run(name, func(t *testing.T) {
			c := connect(t, newFake(), subprotocol)
			c.do(`> {"type":"connection_init","payload":{"user":"ada"}}`, ack)
			c.do(steps...)
		})
	}
}

// TestBeforeAck has conversations before connection_ack.
func TestBeforeAck(t *testing.T) {
	for name, steps := range map[string][]string{
		"ping":                   {`> {"type":"ping"}`, `< {"type":"pong"}`, initMessage, ack},
		"complete":               {complete("1"), initMessage, ack},
		"a null payload":         {`> {"type":"connection_init","payload":null}`, ack},
		"subscribe":              {subscribe("1", "none"), `x 4401 Unauthorized`},
		"a list as the payload":  {`> {"type":"connection_init","payload":[]}`, payloadFault},
		"Init panics":            {`> {"type":"connection_init","payload":{"panic":1}}`, `x 4500 Internal server error`},
		"a message of gqlgen's":  {`> {"type":"start","id":"1"}`, typeFault},
		"two at once":            {initMessage, initMessage, ack, `x 4429 Too many initialisation requests`},
		"subscribe without wait": {initMessage, subscribe("1", "none"), ack, `< {"id":"1","type":"complete"}`},
	} {
		t.Run(name, func(t *testing.T) {
			connect(t, newFake(), subprotocol).do(steps...)
		})
	}
}

func TestSubprotocols(t *testing.T) {
	for _, protocols := range [][]string{nil, {"graphql-ws"}, {"mqtt", "soap"}} {
		connect(t, newFake(), protocols...).do(`x 4406 Subprotocol not acceptable`)
	}
	connect(t, newFake(), "graphql-ws", subprotocol).do(initMessage, ack)
}

func TestInitRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"Sign in":                         "Sign in",
		"":                                "",
		strings.Repeat("x", 124):          strings.Repeat("x", 123),
		strings.Repeat("é", 62):           strings.Repeat("é", 61),
		"\xff":                            "\uFFFD",
		strings.Repeat("x", 122) + "\xff": strings.Repeat("x", 122),
	} {
		f := newFake()
		f.refused = errors.New(text)
		connect(t, f, subprotocol).do(initMessage, "x 4403 "+reason)
		f.refused = TryAgainLater{Reason: f.refused} // is nothing that the client did
		connect(t, f, subprotocol).do(initMessage, "x 1013 "+reason)
	}
}

func TestBinaryMessage(t *testing.T) {
	c := connect(t, newFake(), subprotocol)
	if err := c.socket.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	c.do("x 4400 Messages must be text")
}

// TestOperationsEnd checks that operations end with their connection, however it ends.
func TestOperationsEnd(t *testing.T) {
	for name, end := range map[string]func(client, *fake){
		"close":      func(c client, _ *fake) { c.socket.Close(websocket.StatusNormalClosure, "") },
		"disconnect": func(c client, _ *fake) { c.socket.CloseNow() },
		"fault":      func(c client, _ *fake) { c.do(`> {}`, typeFault) },
		"drain": func(c client, f *fake) {
			close(f.draining)
			c.do(`x 1001 The server is stopping`)
		},
		"abandon": func(c client, f *fake) {
			f.abandon()
			c.do(`x 1001 The server is stopping`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			c := connect(t, f, subprotocol)
			c.do(initMessage, ack, subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`,
				subscribe("2", "wait"), `< {"id":"2","type":"next","payload":1}`)
			end(c, f)
			<-f.ended
			<-f.ended
			f.served.Wait()
		})
	}
}

// TestReusedID checks that no response of an operation follows once its id belongs to another one.
func TestReusedID(t *testing.T) {
	c := connect(t, newFake(), subprotocol)
	c.do(initMessage, ack)
	for i := range 300 {
		name := strconv.Itoa(i)
		c.send(`{"id":"1","type":"subscribe","payload":{"query":"repeat","operationName":"` + name + `"}}`)
		want := `{"id":"1","type":"next","payload":"` + name + `"}`
		before := `{"id":"1","type":"next","payload":"` + strconv.Itoa(i-1) + `"}`
		for message := c.receive(); message != want; message = c.receive() {
			if message != before {
				t.Fatalf("received %s, want %s", message, want)
			}
		}
		for range 3 {
			if message := c.receive(); message != want {
				t.Fatalf("received %s after %s", message, want)
			}
		}
		c.do(complete("1"))
	}
}

// TestOtherOrigin checks that the package leaves the Origin to its caller.
func TestOtherOrigin(t *testing.T) {
	server := httptest.NewServer(newFake())
	defer server.Close()
	dial(t, server.URL, &websocket.DialOptions{
		HTTPHeader:   http.Header{"Origin": {"https://blog.example"}},
		Subprotocols: []string{subprotocol},
	}).do(initMessage, ack)
}

// TestContextsEnd checks that the context of an operation ends with the operation, and not only
// with the connection.
func TestContextsEnd(t *testing.T) {
	f := newFake()
	contexts := make(chan context.Context, 1)
	f.Operate = func(ctx context.Context, _ *graphql.RawParams, _ string, _ func(context.Context, []byte) error) []byte {
		contexts <- ctx
		return nil
	}
	connect(t, f, subprotocol).do(initMessage, ack, subscribe("1", "none"), `< {"id":"1","type":"complete"}`)
	<-(<-contexts).Done()
}

// TestPanics checks that panics are reported, and end only what they must.
func TestPanics(t *testing.T) {
	f := newFake()
	c := connect(t, f, subprotocol)
	c.do(initMessage, ack, subscribe("1", "panic"), `< {"id":"1","type":"error","payload":["panic"]}`)
	if value := <-f.panics; value != "operation" {
		t.Errorf("reported %v", value)
	}
	f = newFake()
	f.Parse = nil
	c = connect(t, f, subprotocol)
	c.do(initMessage, `x 4500 Internal server error`)
	if value := <-f.panics; value == nil {
		t.Error("reported nothing")
	}
}

// TestPanickedPanics checks that the connection ends although Panicked panics.
func TestPanickedPanics(t *testing.T) {
	f := newFake()
	f.Parse = nil
	f.Panicked = func(context.Context, any) []byte { panic("again") }
	server := httptest.NewUnstartedServer(f)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	dial(t, server.URL, &websocket.DialOptions{Subprotocols: []string{subprotocol}}).do(initMessage, `x 4500 Internal server error`)
	f.served.Wait()
	server.Close()
}

func TestRefusedHandshakes(t *testing.T) {
	handshake := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
	}
	server := httptest.NewServer(newFake())
	defer server.Close()
	for _, test := range []struct {
		method, header, value string
		want                  int
	}{
		{"GET", "Connection", "keep-alive", http.StatusUpgradeRequired},
		{"GET", "Sec-Websocket-Key", "secret", http.StatusBadRequest},
		{"GET", "Sec-Websocket-Version", "8", http.StatusBadRequest},
		{"POST", "X", "", http.StatusMethodNotAllowed},
	} {
		request := httptest.NewRequestWithContext(t.Context(), test.method, server.URL, nil)
		request.RequestURI = ""
		request.Header = handshake.Clone()
		request.Header.Set(test.header, test.value)
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		refused := response.Header.Get("Refused")
		if response.StatusCode != test.want || refused != strconv.Itoa(test.want) || response.ContentLength != 0 {
			t.Errorf("%v: answered %d and refused with %s, with %d bytes", test, response.StatusCode, refused, response.ContentLength)
		}
	}
	recorder := httptest.NewRecorder() // is no Hijacker
	request := httptest.NewRequestWithContext(context.Background(), "GET", "/", nil)
	request.Header = handshake
	newFake().ServeHTTP(recorder, request)
	if recorder.Code != http.StatusNotImplemented {
		t.Errorf("answered %d without a Hijacker", recorder.Code)
	}
}
