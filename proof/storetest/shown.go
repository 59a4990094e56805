package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Shown is a transport that finds writes that no change feed shows: items of a partition are gone
// afterwards, and no other item of it was written. What is kept of that partition would stay in the
// caches of servers (store/tail). It executes one write at a time.
//
// Reservations of usernames are exempt: they are valid only with their user, who is read too. So
// are the items of a deleted post: they are valid only with their post.
type Shown struct {
	next   Transporter
	client *azcosmos.Client

	mu     sync.Mutex
	Hidden []string // the writes, as "method path partition"
}

// NewShown returns a transport to an account.
func NewShown(account *cosmostest.Account) *Shown {
	return &Shown{next: account.NewTransport(), client: account.NewTransport().Client(nil)}
}

// Do implements Transporter.
func (s *Shown) Do(request *http.Request) (*http.Response, error) {
	target, ok := cosmos.TargetOf(request)
	var keys []string
	_ = json.Unmarshal([]byte(request.Header.Get(cosmos.PartitionKeyHeader)), &keys)
	switch {
	case !ok, request.Method == http.MethodGet, request.Header.Get("X-Ms-Documentdb-Query") != "", len(keys) == 0:
		return s.next.Do(request)
	case target.Container == schema.Usernames, target.Container == schema.Leases, target.Container == schema.DeadLetters:
		return s.next.Do(request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.items(target.Container, keys[0])
	if err != nil {
		return nil, err
	}
	response, failed := s.next.Do(request)
	after, err := s.items(target.Container, keys[0])
	if err != nil {
		return nil, err
	}
	gone, shown := false, after[keys[0]].Deleted && target.Container == schema.Posts
	for id := range before {
		gone = gone || after[id].Etag == ""
	}
	for id, item := range after {
		shown = shown || before[id].Etag != item.Etag
	}
	if gone && !shown {
		path := request.URL.Path
		if i := strings.LastIndexByte(path, '-'); strings.Contains(path, "/sprocs/") && i > 0 {
			path = path[:i] // without the version
		}
		s.Hidden = append(s.Hidden, fmt.Sprint(request.Method, " ", path, " ", keys[0]))
	}
	return response, failed
}

type partitionItem struct {
	ID      string `json:"id"`
	Etag    string `json:"_etag"`
	Deleted bool   `json:"deleted"`
}

// items returns the items of a partition by their ids.
func (s *Shown) items(container, partition string) (map[string]partitionItem, error) {
	c, err := s.client.NewContainer(cosmos.DefaultDatabase, container)
	if err != nil {
		return nil, err
	}
	items := map[string]partitionItem{}
	pager := c.NewQueryItemsPager("SELECT c.id, c._etag, c.deleted FROM c", azcosmos.NewPartitionKeyString(partition), nil)
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			return nil, err
		}
		for _, text := range page.Items {
			var item partitionItem
			if err := json.Unmarshal(text, &item); err != nil {
				return nil, err
			}
			items[item.ID] = item
		}
	}
	return items, nil
}
