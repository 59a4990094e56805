package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// account sends signed requests to an engine, each once: what is lost stays lost.
type account struct {
	url    string
	key    []byte
	client *http.Client
}

func newAccount(url string, key []byte, connections int) *account {
	return &account{url, key, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}}
}

// answer is what came back, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// errCut says that no whole answer came: what became of the request is not known.
var errCut = errors.New("the connection was cut")

// send sends a request. headers go by pairs; "pk" stands for the partition key's string. Errors: errCut.
func (a *account) send(ctx context.Context, method, path, body string, headers ...string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+"/"+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "pk" {
			request.Header.Set("x-ms-documentdb-partitionkey", fmt.Sprintf("[%q]", headers[i+1]))
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	a.sign(request, path)
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}, errors.Join(errCut, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, errors.Join(errCut, err)
	}
	if response.StatusCode == http.StatusServiceUnavailable { // it is closing
		return answer{}, errCut
	}
	return answer{response.StatusCode, response.Header, text}, nil
}

// sign signs with the master key (REST reference, "Access control in the Azure Cosmos DB SQL API").
func (a *account) sign(r *http.Request, path string) {
	parts := strings.Split(path, "/")
	kind, link := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	if len(parts)%2 == 0 {
		kind, link = parts[len(parts)-2], path
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, a.key)
	io.WriteString(mac, strings.ToLower(r.Method+"\n"+kind+"\n")+link+"\n"+strings.ToLower(date)+"\n\n")
	r.Header.Set("x-ms-date", date)
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

// must sends a request that has to be answered with a status.
func (a *account) must(ctx context.Context, status int, method, path, body string, headers ...string) (answer, error) {
	got, err := a.send(ctx, method, path, body, headers...)
	if err == nil && got.status != status {
		err = fmt.Errorf("%s %s is answered %d: %s", method, path, got.status, got.body)
	}
	return got, err
}

// document is an item as it is read.
type document struct {
	ID   string `json:"id"`
	PK   string `json:"pk"`
	N    int    `json:"n"`
	ETag string `json:"_etag"`
	LSN  uint64 `json:"_lsn"` // in the change feed
}

// documents reads the items of a list.
func (a answer) documents() ([]document, error) {
	var list struct{ Documents []document }
	err := json.Unmarshal(a.body, &list)
	return list.Documents, err
}

// ranges gives the ids of a container's physical ranges.
func (a *account) ranges(ctx context.Context, container string) ([]string, error) {
	got, err := a.must(ctx, 200, "GET", container+"/pkranges", "")
	if err != nil {
		return nil, err
	}
	var list struct {
		PartitionKeyRanges []struct {
			ID string `json:"id"`
		}
	}
	if err := json.Unmarshal(got.body, &list); err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range list.PartitionKeyRanges {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// all reads all items of a container.
func (a *account) all(ctx context.Context, container string) (map[place]document, error) {
	ranges, err := a.ranges(ctx, container)
	if err != nil {
		return nil, err
	}
	items := map[place]document{}
	for _, r := range ranges {
		for next := ""; ; {
			headers := []string{"x-ms-documentdb-partitionkeyrangeid", r, "x-ms-max-item-count", "1000"}
			if next != "" {
				headers = append(headers, "x-ms-continuation", next)
			}
			got, err := a.must(ctx, 200, "GET", container+"/docs", "", headers...)
			if err != nil {
				return nil, err
			}
			page, err := got.documents()
			if err != nil {
				return nil, err
			}
			for _, d := range page {
				items[place{d.PK, d.ID}] = d
			}
			if next = got.header.Get("x-ms-continuation"); next == "" {
				break
			}
		}
	}
	return items, nil
}

// place is where an item is.
type place struct{ pk, id string }
