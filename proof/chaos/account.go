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

// account sends signed requests to an engine. It never retries.
type account struct {
	url    string
	key    []byte
	client *http.Client
}

func newAccount(url string, key []byte, connections int) *account {
	return &account{url, key, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}}
}

// reply is a complete response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// errCut reports that no complete response arrived. The outcome of the request is unknown.
var errCut = errors.New("connection lost")

// send sends a request. headers are pairs of names and values; the name "pk" sets a string as
// the partition key. It returns errCut if no complete response arrives.
func (a *account) send(ctx context.Context, method, path, body string, headers ...string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+"/"+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
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
		return reply{}, errors.Join(errCut, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, errors.Join(errCut, err)
	}
	if response.StatusCode == http.StatusServiceUnavailable { // the engine is closing
		return reply{}, errCut
	}
	return reply{response.StatusCode, response.Header, text}, nil
}

// sign signs a request with the master key (REST reference, "Access control in the Azure Cosmos
// DB SQL API").
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

// must sends a request and returns an error if the status differs from the given one.
func (a *account) must(ctx context.Context, status int, method, path, body string, headers ...string) (reply, error) {
	got, err := a.send(ctx, method, path, body, headers...)
	if err == nil && got.status != status {
		err = fmt.Errorf("%s %s: unexpected status %d: %s", method, path, got.status, got.body)
	}
	return got, err
}

// storedItem is an item in a response.
type storedItem struct {
	ID   string `json:"id"`
	PK   string `json:"pk"`
	N    int    `json:"n"`
	ETag string `json:"_etag"`
	LSN  uint64 `json:"_lsn"` // in the change feed
}

// items decodes the items of a list.
func (a reply) items() ([]storedItem, error) {
	var list struct{ Documents []storedItem }
	err := json.Unmarshal(a.body, &list)
	return list.Documents, err
}

// ranges returns the ids of a container's physical ranges.
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

func (a *account) all(ctx context.Context, container string) (map[itemKey]storedItem, error) {
	ranges, err := a.ranges(ctx, container)
	if err != nil {
		return nil, err
	}
	items := map[itemKey]storedItem{}
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
			page, err := got.items()
			if err != nil {
				return nil, err
			}
			for _, d := range page {
				items[itemKey{d.PK, d.ID}] = d
			}
			if next = got.header.Get("x-ms-continuation"); next == "" {
				break
			}
		}
	}
	return items, nil
}

type itemKey struct{ pk, id string }
