package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
)

// countRequests counts the requests to the database from now on.
func (s *site) countRequests() *atomic.Int64 {
	n := new(atomic.Int64)
	s.intercept = func(http.ResponseWriter, *http.Request) bool {
		n.Add(1)
		return false
	}
	return n
}

// priceOf asks for the price of an operation by a method.
func (s *site) priceOf(method, query string, headers ...string) reply {
	s.Helper()
	headers = append(headers, "X-Cosmos-Diagnostics", "price")
	if method == "GET" {
		return s.send("GET", targetOf(query), "", headers...)
	}
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		s.Fatal(err)
	}
	return s.send("POST", "/graphql", string(body), append(headers, "Content-Type", "application/json")...)
}

// TestPriceOfAnOperation checks that an operation of each kind is priced, by each method and
// whatever the client accepts, and that nothing is read for that.
func TestPriceOfAnOperation(t *testing.T) {
	s := newSite(t, true)
	for query, want := range map[string]string{
		`{feed(first:2){nodes{title comments{nodes{id}}}}}`: `{"estimate":18.1,"mostExpensive":{"estimate":11.4,"field":"Post.comments"}}`,
		`{__typename}`: `{"estimate":0}`,
		fmt.Sprintf(`mutation{deletePost(input:{id:%q}){post{id}}}`, s.post):     `{"estimate":9,"mostExpensive":{"estimate":9,"field":"Mutation.deletePost"}}`,
		fmt.Sprintf(`subscription{postChanged(id:%q){title likeCount}}`, s.post): `{"estimate":1.2,"mostExpensive":{"estimate":1.2,"field":"Subscription.postChanged"}}`,
	} {
		requests := s.countRequests()
		for _, method := range []string{"POST", "GET"} {
			for _, accept := range []string{"application/json", newerType, "text/event-stream"} {
				r := s.priceOf(method, query, "Accept", accept, "Authorization", "Bearer Ann")
				if r.Code != 200 || r.Body.String() != `{"data":null,"extensions":{"cosmos":`+want+`}}` {
					t.Errorf("%s, Accept %s: %s: status %d: %s", method, accept, query, r.Code, r.Body)
				}
			}
		}
		if n := requests.Load(); n > 0 {
			t.Errorf("%s: %d requests to the database", query, n)
		}
	}
}

// TestPriceAboveTheLimit checks that an operation that would be rejected is rejected, with its
// price.
func TestPriceAboveTheLimit(t *testing.T) {
	r := newSite(t, true).priceOf("POST", `{feed(first:100){nodes{comments(first:100){nodes{id}}}}}`, "Accept", newerType)
	if r.Code != 400 || r.codes() != "COST_LIMIT_EXCEEDED" || r.Data != nil {
		t.Fatalf("status %d: %s", r.Code, r.Body)
	}
	if price, _ := r.Errors[0].Extensions["price"].(float64); price <= r.Errors[0].Extensions["limit"].(float64) {
		t.Errorf("the price is %v: %s", price, r.Body)
	}
}

// TestPriceIsNotExecuted checks that a mutation is not executed if its client asks for the price
// and the server does not return it, or cannot know what the client asks for.
func TestPriceIsNotExecuted(t *testing.T) {
	for _, development := range []bool{true, false} {
		s := newSite(t, development)
		mutation := fmt.Sprintf(`mutation{deletePost(input:{id:%q}){post{id}}}`, s.post)
		body, err := json.Marshal(map[string]string{"query": mutation})
		if err != nil {
			t.Fatal(err)
		}
		requests := s.countRequests()
		send := func(values ...string) reply {
			headers := []string{"Content-Type", "application/json", "Authorization", "Bearer Ann"}
			for _, value := range values {
				headers = append(headers, "X-Cosmos-Diagnostics", value)
			}
			return s.send("POST", "/graphql", string(body), headers...)
		}
		for _, values := range [][]string{{"Price"}, {"prices"}, {"1, price"}, {"1", "price"}, {"price", "price"}, {"0"}, {"true"}, {""}} {
			if r := send(values...); r.Code != 400 || r.codes() != "BAD_USER_INPUT" || r.Data != nil {
				t.Errorf("%q: status %d: %s", values, r.Code, r.Body)
			}
		}
		if r := send("price"); !development && (r.Code != 403 || r.codes() != "FORBIDDEN" || r.Data != nil) {
			t.Errorf("in production: status %d: %s", r.Code, r.Body)
		}
		if n := requests.Load(); n > 0 {
			t.Errorf("development %v: %d requests to the database", development, n)
		}
		if r := send("1"); r.Code != 200 || len(r.Errors) > 0 {
			t.Errorf("with 1: status %d: %s", r.Code, r.Body)
		}
	}
}

// TestPriceOfAWebSocket checks that a handshake that asks for prices is rejected: its subscriptions
// would be executed.
func TestPriceOfAWebSocket(t *testing.T) {
	s := newSite(t, true)
	for value, want := range map[string]int{"price": 400, "1": 101} {
		options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"X-Cosmos-Diagnostics": {value}}}
		socket, response, _ := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/graphql", options)
		if response == nil || response.StatusCode != want {
			t.Errorf("with %s: %+v", value, response)
		}
		if socket != nil {
			socket.CloseNow()
		}
	}
}

// TestPriceIsFree checks that prices cost a client nothing, and that a client whose budget is used
// up gets them.
func TestPriceIsFree(t *testing.T) {
	s := newSite(t, true)
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	s.books = budget.New(budget.Options{Account: 100, Address: 1, Now: func() time.Time { return now }}) // 10 RU
	s.serve(limits.Default())
	query := fmt.Sprintf(`{post(id:%q){id}}`, s.post)
	for range 30 {
		if r := s.priceOf("POST", query); r.Code != 200 {
			t.Fatalf("status %d: %s", r.Code, r.Body)
		}
	}
	executed := 0
	for executed < 30 && s.queryAs("", query).Code == 200 {
		executed++
	}
	if executed != 10 { // each is charged 1 RU
		t.Errorf("%d queries were executed", executed)
	}
	if r := s.priceOf("POST", query); r.Code != 200 {
		t.Errorf("after the budget: status %d: %s", r.Code, r.Body)
	}
}
