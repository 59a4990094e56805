//go:build ci

package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// reply is a response with its parsed body.
type reply struct {
	what   string // method and path of the request
	status int
	phrase string // "404 Not Found"
	header http.Header
	text   string
	body   any // parsed JSON; nil if there is none
}

// at returns the value at a path of names in the body.
func (a reply) at(path ...string) any { return at(a.body, path...) }

func at(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// rows returns the items of a feed or query.
func (a reply) rows() []any { rows, _ := a.at("Documents").([]any); return rows }

// ids returns the ids of the items in their order.
func (a reply) ids() string {
	var ids []string
	for _, row := range a.rows() {
		ids = append(ids, fmt.Sprint(at(row, "id")))
	}
	return strings.Join(ids, " ")
}

func (a reply) substatus() string { return a.header.Get("X-Ms-Substatus") }
func (a reply) etag() string      { return a.header.Get("Etag") }

// send signs and sends a request to a path of unescaped names. headers are pairs of names and
// values; the name "pk" sets a string as the partition key.
func (a *account) send(method, path, body string, headers ...string) reply {
	a.t.Helper()
	got, err := a.try(method, path, body, headers...)
	if err != nil {
		a.t.Fatal(err)
	}
	return got
}

func (a *account) try(method, path, body string, headers ...string) (reply, error) {
	var escaped []string
	for _, part := range strings.Split(path, "/") {
		escaped = append(escaped, url.PathEscape(part))
	}
	request, err := http.NewRequest(method, strings.TrimSuffix(a.endpoint, "/")+"/"+strings.Join(escaped, "/"), strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	kind, link := signedLink(path)
	a.sign(request, kind, link)
	a.sessions.addToken(path, request)
	setHeaders(request, headers)
	got, err := a.do(request)
	if err == nil {
		a.sessions.storeToken(path, got)
	}
	return got, err
}

// sessions stores the session tokens of containers, as SDKs do. Without a token, a replica that
// lags may answer a read.
type sessions struct {
	mu     sync.Mutex
	tokens map[string]string // by the container's path
}

func containerOf(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[:min(4, len(parts))], "/")
}

func (s *sessions) addToken(path string, request *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token := s.tokens[containerOf(path)]; token != "" {
		request.Header.Set("x-ms-session-token", token)
	}
}

func (s *sessions) storeToken(path string, got reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token := got.header.Get("X-Ms-Session-Token"); token != "" {
		s.tokens[containerOf(path)] = token
	}
}

func setHeaders(request *http.Request, headers []string) {
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "pk" {
			text, _ := json.Marshal([]string{headers[i+1]})
			request.Header.Set("x-ms-documentdb-partitionkey", string(text))
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
}

// do sends a request unchanged.
func (a *account) do(request *http.Request) (reply, error) {
	response, err := a.client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	got := reply{what: request.Method + " " + request.URL.Path, status: response.StatusCode, phrase: response.Status, header: response.Header, text: string(text)}
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &got.body)
	}
	return got, err
}

// signedLink returns the resource type and the link for the signature of a request (REST
// reference, "Access control in the Azure Cosmos DB SQL API").
func signedLink(path string) (kind, link string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts)%2 == 0 {
		kind, link = parts[len(parts)-2], strings.Join(parts, "/")
	} else {
		kind, link = parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	}
	if kind == "offers" {
		link = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(link, "offers"), "/"))
	}
	return kind, link
}

// sign signs a request with the account's key.
func (a *account) sign(request *http.Request, kind, link string) {
	key, err := base64.StdEncoding.DecodeString(a.key)
	if err != nil {
		panic(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(request.Method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	request.Header.Set("x-ms-date", date)
	request.Header.Set("x-ms-version", "2020-11-05")
	request.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

// must fails the test if the reply has another status.
func (a *account) must(status int, source basis, got reply) reply {
	a.t.Helper()
	if got.status != status {
		a.t.Fatalf("%s: status %d, want %d (%s): %s", got.what, got.status, status, source, got.text)
	}
	return got
}

// rejected checks the status and substatus of an error, and that it has a code and a message.
func (a *account) rejected(status int, substatus string, source basis, got reply) reply {
	a.t.Helper()
	a.must(status, source, got)
	if got.substatus() != substatus {
		a.t.Errorf("%s: substatus %q, want %q (%s): %s", got.what, got.substatus(), substatus, source, got.text)
	}
	code, _ := got.at("code").(string)
	message, _ := got.at("message").(string)
	if code == "" || message == "" {
		a.t.Errorf("%s: error without code or message (%s): %s", got.what, documented, got.text)
	}
	return got
}

// equal compares two values by their JSON.
func (a *account) equal(what string, got, want any, source basis) {
	a.t.Helper()
	if g, w := format(got), format(want); g != w {
		a.t.Errorf("%s: %s, want %s (%s)", what, g, w, source)
	}
}

func format(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
