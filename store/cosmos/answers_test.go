package cosmos_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
)

// row is the item of these tests.
type row struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// account is a transport of an account with one container of two feed ranges. answer answers the
// requests for items.
type account struct {
	answer func(request *http.Request) *http.Response
	mu     sync.Mutex // one request at a time
}

func (a *account) Do(request *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var response *http.Response
	switch path := request.URL.Path; {
	case strings.HasSuffix(path, "/docs"), strings.Contains(path, "/docs/"):
		response = a.answer(request)
	case strings.HasSuffix(path, "/pkranges") && request.Header.Get("If-None-Match") != "":
		response = answer(http.StatusNotModified, "")
	case strings.HasSuffix(path, "/pkranges"):
		response = answer(http.StatusOK, `{"_rid":"r","PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"1F"},`+
			`{"id":"1","minInclusive":"1F","maxExclusive":"FF"}],"_count":2}`, "Etag: \"1\"")
	case strings.Contains(path, "/colls/"):
		response = answer(http.StatusOK, `{"id":"c","_rid":"r","partitionKey":{"paths":["/id"],"kind":"Hash","version":2}}`)
	default:
		response = answer(http.StatusOK, `{"id":"a","readableLocations":[],"writableLocations":[]}`)
	}
	response.Request = request
	return response, nil
}

// answer returns an answer with headers of the form "Name: value".
func answer(status int, body string, headers ...string) *http.Response {
	response := &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)),
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		response.Header.Set(name, value)
	}
	return response
}

// rows returns the page of a query with an item for each id.
func rows(ids ...string) string {
	var items []string
	for _, id := range ids {
		items = append(items, fmt.Sprintf(`{"id":%q,"title":"of %s","_rid":"r"}`, id, id))
	}
	return `{"_rid":"r","Documents":[` + strings.Join(items, ",") + fmt.Sprintf(`],"_count":%d}`, len(ids))
}

// container returns the container of the account, and the log of its requests.
func (a *account) container(t *testing.T) (*azcosmos.ContainerClient, *requestLog) {
	t.Helper()
	log := new(requestLog)
	db, err := cosmos.New(cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: "a2V5", Transport: a, Recorder: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db.Container("c"), log
}

// TestQueryReadsAllPages checks that a query follows continuations, also behind an empty page, and
// that the results of each page are its items.
func TestQueryReadsAllPages(t *testing.T) {
	pages := []string{rows("a", "b"), rows(), `{"_rid":"r","Documents":null}`, rows("c")}
	a := &account{answer: func(request *http.Request) *http.Response {
		var page int
		_, _ = fmt.Sscan(request.Header.Get("X-Ms-Continuation"), &page) // none: page 0
		if page == len(pages)-1 {
			return answer(http.StatusOK, pages[page])
		}
		return answer(http.StatusOK, pages[page], fmt.Sprint("X-Ms-Continuation: ", page+1))
	}}
	c, log := a.container(t)
	got, err := cosmos.Query[row](t.Context(), c, "p", "SELECT * FROM c", 2)
	want := []row{{"a", "of a"}, {"b", "of b"}, {"c", "of c"}}
	if err != nil || !slices.Equal(got, want) || len(log.requests) != len(pages) {
		t.Errorf("Query returned %v after %d requests: %v", got, len(log.requests), err)
	}
}

// TestNextPageOverwrites checks that nothing behind the end of the given slice reaches the results.
func TestNextPageOverwrites(t *testing.T) {
	a := &account{answer: func(*http.Request) *http.Response {
		return answer(http.StatusOK, `{"Documents":[{"id":"b"},{},null]}`)
	}}
	c, _ := a.container(t)
	pager := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil)
	results := []row{{"a", "kept"}, {"x", "stale"}, {"y", "stale"}, {"z", "stale"}, {"z", "stale"}}[:1]
	got, continuation, err := cosmos.NextPage(t.Context(), pager, results)
	if want := []row{{"a", "kept"}, {"b", ""}, {}, {}}; err != nil || continuation != nil || !slices.Equal(got, want) {
		t.Errorf("NextPage returned %v: %v", got, err)
	}
}

// brokenBody is a body that breaks off.
type brokenBody struct{ io.Reader }

func (b brokenBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (brokenBody) Close() error { return nil }

// TestBrokenBodiesAreRetried checks that an answer whose body breaks off counts as no answer:
// azcosmos sends the read again, and nothing of the first answer is used.
func TestBrokenBodiesAreRetried(t *testing.T) {
	for name, read := range map[string]func(*testing.T, *azcosmos.ContainerClient) ([]row, error){
		"query": func(t *testing.T, c *azcosmos.ContainerClient) ([]row, error) {
			return cosmos.Query[row](t.Context(), c, "a", "SELECT * FROM c", 2)
		},
		"read": func(t *testing.T, c *azcosmos.ContainerClient) ([]row, error) {
			item, _, err := cosmos.Read[row](t.Context(), c, "a", "a")
			return []row{*item}, err
		},
		"readMany": func(t *testing.T, c *azcosmos.ContainerClient) ([]row, error) {
			return cosmos.ReadEach[row](t.Context(), c, cosmos.OwnAddresses([]string{"a", "a0"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				a := &account{answer: func(request *http.Request) *http.Response {
					tries++
					page := rows("a")
					if request.Method == http.MethodGet {
						page = `{"id":"a","title":"of a"}`
					}
					response := answer(http.StatusOK, page)
					if tries == 1 {
						response.Body = brokenBody{response.Body}
					}
					return response
				}}
				c, log := a.container(t)
				got, err := read(t, c)
				if err != nil || !slices.Contains(got, row{"a", "of a"}) || name != "readMany" && len(got) != 1 {
					t.Errorf("%v: %v", got, err)
				}
				if len(log.requests) < 2 || log.requests[0].Status != 0 || log.requests[1].Status != http.StatusOK {
					t.Errorf("recorded %+v", log.requests)
				}
			})
		})
	}
}

// TestReadManyAfterSplit checks that a read many whose first try ends in the split of a range
// returns each item once, although another range had answered.
func TestReadManyAfterSplit(t *testing.T) {
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprint("id", i))
	}
	inRange := map[string][]string{"0": ids[:7], "1": ids[7:]}
	answered := map[string]int{}
	a := &account{answer: func(request *http.Request) *http.Response {
		id := request.Header.Get("X-Ms-Documentdb-Partitionkeyrangeid")
		answered[id]++
		if answered["0"] > 0 && answered["1"] == 1 && id == "1" || answered["1"] > 0 && answered["0"] == 1 && id == "0" {
			return answer(http.StatusGone, `{}`, "X-Ms-Substatus: 1002")
		}
		return answer(http.StatusOK, rows(inRange[id]...))
	}}
	c, log := a.container(t)
	got, err := cosmos.ReadEach[row](t.Context(), c, cosmos.OwnAddresses(ids))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b row) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	for i, r := range got {
		if r.ID != ids[i] || r.Title != "of "+ids[i] {
			t.Errorf("item %d is %v", i, r)
		}
	}
	if len(got) != len(ids) || len(log.requests) != 4 {
		t.Errorf("%d items after %d requests", len(got), len(log.requests))
	}
}

// TestMalformedAnswers checks that an item that cannot be decoded is a permanent error, and a page
// that is no JSON, for example that of a proxy, is not.
func TestMalformedAnswers(t *testing.T) {
	for page, permanent := range map[string]bool{
		`{"Documents":[{"id":"a"},{"id":5}],"_count":2}`:      true,
		`{"Documents":[["a"]]}`:                               true,
		`{"Documents":[{"id":"a"}`:                            false,
		`<html><body>502 Bad Gateway</body></html>`:           false,
		`{"Documents":{"id":"a"}}`:                            false,
		`{"Documents":[{"id":"a"}]} {"Documents":[{"id":"b"}`: false,
	} {
		a := &account{answer: func(*http.Request) *http.Response { return answer(http.StatusOK, page) }}
		c, _ := a.container(t)
		got, err := cosmos.Query[row](t.Context(), c, "p", "SELECT * FROM c", 2)
		if err == nil || cosmos.IsPermanent(err) != permanent {
			t.Errorf("%s: %v, error %v; permanent is %t", page, got, err, cosmos.IsPermanent(err))
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the error %v is that of a connection", page, err)
		}
	}
}

// TestOtherRequestsKeepTheirBodies checks that a caller of azcosmos gets the items themselves.
func TestOtherRequestsKeepTheirBodies(t *testing.T) {
	a := &account{answer: func(*http.Request) *http.Response { return answer(http.StatusOK, rows("a")) }}
	c, _ := a.container(t)
	page, err := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil).NextPage(t.Context())
	if err != nil || len(page.Items) != 1 || string(page.Items[0]) != `{"id":"a","title":"of a","_rid":"r"}` {
		t.Errorf("azcosmos returned %s: %v", page.Items, err)
	}
}

// TestReadItems reads a page of all items, an empty one, and the last one.
func TestReadItems(t *testing.T) {
	pages := []string{rows("a", "b"), `{"_rid":"r","Documents":[]}`, `{"_rid":"r","Documents":[{"id":5},{"id":"c"}]}`}
	a := &account{answer: func(request *http.Request) *http.Response {
		var page int
		_, _ = fmt.Sscan(request.Header.Get("X-Ms-Continuation"), &page) // none: page 0
		if page == len(pages)-1 {
			return answer(http.StatusOK, pages[page])
		}
		return answer(http.StatusOK, pages[page], fmt.Sprint("X-Ms-Continuation: ", page+1))
	}}
	c, _ := a.container(t)
	continuation, got := "", ""
	for i := range pages {
		page, err := cosmos.ReadItems(t.Context(), c, continuation, 2)
		if err != nil || page.ResourceID != "r" || (page.Continuation == "") != (i == len(pages)-1) {
			t.Errorf("page %d is %+v: %v", i, page, err)
		}
		for _, item := range page.Items {
			got += string(item)
		}
		continuation = page.Continuation
	}
	const want = `{"id":"a","title":"of a","_rid":"r"}{"id":"b","title":"of b","_rid":"r"}{"id":5}{"id":"c"}`
	if got != want {
		t.Errorf("the items are %s", got)
	}
	pages = []string{`<html>`}
	if _, err := cosmos.ReadItems(t.Context(), c, "", 2); err == nil || cosmos.IsPermanent(err) {
		t.Errorf("the error of a page that is no JSON is %v", err)
	}
}
