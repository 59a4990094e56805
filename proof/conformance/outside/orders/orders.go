// Package orders keeps the orders of a shop in Azure Cosmos DB.
package orders

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const (
	database  = "shop"
	container = "orders"
)

// CancelAll is the source of the stored procedure cancelAll.
//
//go:embed cancelAll.js
var CancelAll string

// ErrNotFound is the error for an order that does not exist, or that has expired.
var ErrNotFound = errors.New("there is no such order")

// ErrExists is the error for an id that another order has.
var ErrExists = errors.New("there is another order with this id")

// Order is an order of a customer.
type Order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"` // the partition key
	Product  string `json:"product"`
	Status   string `json:"status"`        // open, done or cancelled
	Seconds  int    `json:"ttl,omitempty"` // a reservation expires after this time
}

// Store is one session with the database: it sees its own writes. It may be used concurrently.
type Store struct {
	items *azcosmos.ContainerClient

	mu     sync.Mutex
	tokens map[string]string // session tokens, by customer
}

// ClientOptions returns the options for clients of this package, which repeats requests itself.
func ClientOptions() *azcosmos.ClientOptions {
	return &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}}
}

// Create creates the database and its container.
func Create(ctx context.Context, client *azcosmos.Client) error {
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: database}, nil); err != nil {
		return err
	}
	shop, err := client.NewDatabase(database)
	if err != nil {
		return err
	}
	never := int32(-1) // unless an order has a ttl
	_, err = shop.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     container,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/customer"}, Version: 2},
		DefaultTimeToLive:      &never,
	}, nil)
	return err
}

// New returns a session with the database.
func New(client *azcosmos.Client) (*Store, error) {
	items, err := client.NewContainer(database, container)
	return &Store{items: items, tokens: map[string]string{}}, err
}

// Place stores a new order. Errors: ErrExists, and those of the database.
func (s *Store) Place(ctx context.Context, order Order) error {
	item, err := json.Marshal(order)
	if err != nil {
		return err
	}
	unknown := false // whether an earlier try may have stored the order
	return retry(ctx, func() error {
		response, err := s.items.CreateItem(ctx, azcosmos.NewPartitionKeyString(order.Customer), item, nil)
		refusal := refusalOf(err)
		switch {
		case err == nil:
			s.saw(order.Customer, response.SessionToken)
			return nil
		case refusal == nil || refusal.StatusCode == http.StatusRequestTimeout:
			unknown = true
			return err
		case refusal.StatusCode != http.StatusConflict:
			return err
		case !unknown:
			return ErrExists
		}
		token := refusal.RawResponse.Header.Get("x-ms-session-token")
		s.saw(order.Customer, &token)
		stored, err := s.read(ctx, order.Customer, order.ID)
		if err == nil && stored != order {
			return ErrExists
		}
		return err
	})
}

// Read returns an order. Errors: ErrNotFound, and those of the database.
func (s *Store) Read(ctx context.Context, customer, id string) (order Order, err error) {
	err = retry(ctx, func() error {
		order, err = s.read(ctx, customer, id)
		return err
	})
	return order, err
}

func (s *Store) read(ctx context.Context, customer, id string) (order Order, err error) {
	options := &azcosmos.ItemOptions{SessionToken: s.token(customer)}
	response, err := s.items.ReadItem(ctx, azcosmos.NewPartitionKeyString(customer), id, options)
	if refusal := refusalOf(err); refusal != nil && refusal.StatusCode == http.StatusNotFound {
		return Order{}, ErrNotFound
	}
	if err != nil {
		return Order{}, err
	}
	return order, json.Unmarshal(response.Value, &order)
}

// Open returns the open orders of a customer, in the order of their products.
func (s *Store) Open(ctx context.Context, customer string) (open []Order, err error) {
	pager := s.items.NewQueryItemsPager("SELECT * FROM c WHERE c.status = @status ORDER BY c.product",
		azcosmos.NewPartitionKeyString(customer), &azcosmos.QueryOptions{
			SessionToken:    s.token(customer),
			QueryParameters: []azcosmos.QueryParameter{{Name: "@status", Value: "open"}},
		})
	for pager.More() {
		var page azcosmos.QueryItemsResponse
		err := retry(ctx, func() (err error) {
			page, err = pager.NextPage(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var order Order
			if err := json.Unmarshal(item, &order); err != nil {
				return nil, err
			}
			open = append(open, order)
		}
	}
	return open, nil
}

// Changes returns the next orders that were stored or changed, of all customers, and where to
// continue. position is empty for the first call. No orders means that there are none for now.
func (s *Store) Changes(ctx context.Context, position string) (changed []Order, next string, err error) {
	options := &azcosmos.ChangeFeedOptions{FeedRange: &azcosmos.FeedRange{MaxExclusive: "FF"}, MaxItemCount: 3}
	if position != "" {
		options.Continuation = &position
	}
	var page azcosmos.ChangeFeedResponse
	err = retry(ctx, func() (err error) {
		page, err = s.items.ReadChangeFeed(ctx, options)
		return err
	})
	if err != nil {
		return nil, position, err
	}
	for _, item := range page.Items {
		var order Order
		if err := json.Unmarshal(item, &order); err != nil {
			return nil, position, err
		}
		changed = append(changed, order)
	}
	return changed, page.ContinuationToken, nil
}

// saw notes the session token of a state, so that later reads do not show an older one.
func (s *Store) saw(customer string, token *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token != nil && *token != "" {
		s.tokens[customer] = *token
	}
}

func (s *Store) token(customer string) *string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token, ok := s.tokens[customer]; ok {
		return &token
	}
	return nil
}

// retry calls try until it succeeds, at most five times. It waits as long as the database asks.
func retry(ctx context.Context, try func() error) error {
	for n := 1; ; n++ {
		err := try()
		wait, again := waitAfter(err)
		if !again || n == 5 {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waitAfter reports whether to repeat a request after an error, and how long to wait before: after
// 429, 503, timeouts, and requests without an answer.
func waitAfter(err error) (wait time.Duration, again bool) {
	const usual = 20 * time.Millisecond
	refusal := refusalOf(err)
	if refusal == nil {
		return usual, err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists)
	}
	switch refusal.StatusCode {
	case http.StatusTooManyRequests:
		milliseconds, _ := strconv.Atoi(refusal.RawResponse.Header.Get("x-ms-retry-after-ms"))
		return time.Duration(milliseconds) * time.Millisecond, true
	case http.StatusRequestTimeout, http.StatusServiceUnavailable:
		return usual, true
	}
	return 0, false
}

// refusalOf returns an answer that is an error, or nil without an answer.
func refusalOf(err error) *azcore.ResponseError {
	var refusal *azcore.ResponseError
	errors.As(err, &refusal)
	return refusal
}
