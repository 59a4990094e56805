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

// answer is what came back.
type answer struct {
	what   string // was asked
	status int
	phrase string // "404 Not Found"
	header http.Header
	text   string
	body   any // of JSON; nil where there is none
}

// at gives what a path of names leads to in the answer's body.
func (a answer) at(path ...string) any { return at(a.body, path...) }

func at(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// rows gives the items of a feed or query.
func (a answer) rows() []any { rows, _ := a.at("Documents").([]any); return rows }

// ids gives their ids, in their order.
func (a answer) ids() string {
	var ids []string
	for _, row := range a.rows() {
		ids = append(ids, fmt.Sprint(at(row, "id")))
	}
	return strings.Join(ids, " ")
}

func (a answer) substatus() string { return a.header.Get("X-Ms-Substatus") }
func (a answer) etag() string      { return a.header.Get("Etag") }

// send signs a request to a path of names, which are not escaped yet, and sends it. headers go by pairs; a name "pk"
// stands for the partition key, a string.
func (a *account) send(method, path, body string, headers ...string) answer {
	a.t.Helper()
	got, err := a.try(method, path, body, headers...)
	if err != nil {
		a.t.Fatal(err)
	}
	return got
}

func (a *account) try(method, path, body string, headers ...string) (answer, error) {
	var escaped []string
	for _, part := range strings.Split(path, "/") {
		escaped = append(escaped, url.PathEscape(part))
	}
	request, err := http.NewRequest(method, strings.TrimSuffix(a.endpoint, "/")+"/"+strings.Join(escaped, "/"), strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	kind, link := signedLink(path)
	a.sign(request, kind, link)
	a.sessions.tell(path, request)
	setHeaders(request, headers)
	got, err := a.do(request)
	if err == nil {
		a.sessions.keep(path, got)
	}
	return got, err
}

// sessions keeps the session tokens of containers, as SDKs do: a read without one may be answered by a replica that lags.
type sessions struct {
	mu     sync.Mutex
	tokens map[string]string // by the container's path
}

func containerOf(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[:min(4, len(parts))], "/")
}

func (s *sessions) tell(path string, request *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token := s.tokens[containerOf(path)]; token != "" {
		request.Header.Set("x-ms-session-token", token)
	}
}

func (s *sessions) keep(path string, got answer) {
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

// do sends a request as it is.
func (a *account) do(request *http.Request) (answer, error) {
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	got := answer{what: request.Method + " " + request.URL.Path, status: response.StatusCode, phrase: response.Status, header: response.Header, text: string(text)}
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &got.body)
	}
	return got, err
}

// signedLink gives the kind of resource and the link that a request for a path is signed with (REST reference, "Access
// control in the Azure Cosmos DB SQL API").
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

// must holds an answer to a status.
func (a *account) must(status int, rests basis, got answer) answer {
	a.t.Helper()
	if got.status != status {
		a.t.Fatalf("%s: status %d, want %d (%s): %s", got.what, got.status, status, rests, got.text)
	}
	return got
}

// refused holds an answer to a status and substatus, and to the shape of an error.
func (a *account) refused(status int, substatus string, rests basis, got answer) answer {
	a.t.Helper()
	a.must(status, rests, got)
	if got.substatus() != substatus {
		a.t.Errorf("%s: substatus %q, want %q (%s): %s", got.what, got.substatus(), substatus, rests, got.text)
	}
	code, _ := got.at("code").(string)
	message, _ := got.at("message").(string)
	if code == "" || message == "" {
		a.t.Errorf("%s: an error has code and message (%s): %s", got.what, documented, got.text)
	}
	return got
}

// equal holds what was got to what was wanted, as they are printed.
func (a *account) equal(what string, got, want any, rests basis) {
	a.t.Helper()
	if g, w := printed(got), printed(want); g != w {
		a.t.Errorf("%s: %s, want %s (%s)", what, g, w, rests)
	}
}

func printed(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
