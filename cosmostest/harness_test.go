package cosmostest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// noon is the time at which the clocks of these tests start.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// shop is an account with the database shop and its container orders, whose partition key is
// /customer. Items have a time to live if they name one.
type shop struct {
	*cosmostest.Account
	*client
}

// newShop opens an account and creates the container, with one physical range.
func newShop(t testing.TB, options cosmostest.Options) *shop {
	t.Helper()
	return newDividedShop(t, options, 1)
}

// newDividedShop is newShop with a number of physical ranges.
func newDividedShop(t testing.TB, options cosmostest.Options, ranges int32) *shop {
	t.Helper()
	s := &shop{Account: cosmostest.New(t, options)}
	s.client = newClient(t, s.Account.Transport)
	s.provision(ranges)
	return s
}

// client is an azcosmos client that repeats nothing. It is one session: it sends the session token
// of its last answer, which azcosmos leaves to its callers. It must not be used concurrently.
type client struct {
	testing.TB
	transport *cosmostest.Transport
	azcosmos  *azcosmos.Client
	orders    *azcosmos.ContainerClient
	token     *string // nil before the first answer
}

func newClient(t testing.TB, transport *cosmostest.Transport) *client {
	t.Helper()
	c := &client{TB: t, transport: transport, azcosmos: transport.Client(patient)}
	var err error
	c.orders, err = c.azcosmos.NewContainer("shop", "orders")
	c.must(err)
	return c
}

// patient are the options of a client that repeats nothing.
var patient = &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}}

// provision creates the database and the container.
func (c *client) provision(ranges int32) {
	c.Helper()
	_, err := c.azcosmos.CreateDatabase(c.Context(), azcosmos.DatabaseProperties{ID: "shop"}, nil)
	c.must(err)
	database, err := c.azcosmos.NewDatabase("shop")
	c.must(err)
	forever, throughput := int32(-1), azcosmos.NewManualThroughputProperties(ranges*10_000)
	_, err = database.CreateContainer(c.Context(), azcosmos.ContainerProperties{
		ID:                     "orders",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/customer"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2},
		DefaultTimeToLive:      &forever,
	}, &azcosmos.CreateContainerOptions{ThroughputProperties: &throughput})
	c.must(err)
}

func (c *client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// order returns an order of a customer, with more properties in JSON or none.
func order(customer, id string, more ...string) []byte {
	return []byte(fmt.Sprintf(`{"id":%q,"customer":%q%s}`, id, customer, strings.Join(append([]string{""}, more...), ",")))
}

func key(customer string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(customer) }

// keep stores the session token of an answer, if it has one.
func (c *client) keep(answer *http.Response, err error) error {
	if refused, ok := errors.AsType[*azcore.ResponseError](err); ok {
		answer = refused.RawResponse
	}
	if answer != nil {
		if token := answer.Header.Get("X-Ms-Session-Token"); token != "" {
			c.token = &token
		}
	}
	return err
}

// tryPut upserts an order.
func (c *client) tryPut(customer, id string, more ...string) error {
	got, err := c.orders.UpsertItem(c.Context(), key(customer), order(customer, id, more...), nil)
	return c.keep(got.RawResponse, err)
}

func (c *client) put(customer, id string, more ...string) {
	c.Helper()
	c.must(c.tryPut(customer, id, more...))
}

// add creates an order and returns the error.
func (c *client) add(customer, id string) error {
	got, err := c.orders.CreateItem(c.Context(), key(customer), order(customer, id), nil)
	return c.keep(got.RawResponse, err)
}

// remove deletes an order and returns the error.
func (c *client) remove(customer, id string) error {
	got, err := c.orders.DeleteItem(c.Context(), key(customer), id, nil)
	return c.keep(got.RawResponse, err)
}

func (c *client) read(customer, id string) (item map[string]any, err error) {
	got, err := c.orders.ReadItem(c.Context(), key(customer), id, &azcosmos.ItemOptions{SessionToken: c.token})
	if c.keep(got.RawResponse, err) != nil {
		return nil, err
	}
	return item, json.Unmarshal(got.Value, &item)
}

// tryGet reads an order and returns the error.
func (c *client) tryGet(customer, id string) error {
	_, err := c.read(customer, id)
	return err
}

// has reports whether a client sees an order.
func (c *client) has(customer, id string) bool {
	c.Helper()
	err := c.tryGet(customer, id)
	if statusOf(err) == http.StatusNotFound {
		return false
	}
	c.must(err)
	return true
}

// property returns a property of an order as a client sees it.
func (c *client) property(customer, id, name string) any {
	c.Helper()
	item, err := c.read(customer, id)
	c.must(err)
	return item[name]
}

// query returns the ids of a query, sorted, from one partition or from all.
func (c *client) query(partition azcosmos.PartitionKey, text string) (ids []string, err error) {
	pager := c.orders.NewQueryItemsPager(text, partition, &azcosmos.QueryOptions{SessionToken: c.token})
	for pager.More() {
		page, err := pager.NextPage(c.Context())
		if c.keep(page.RawResponse, err) != nil {
			return nil, err
		}
		for _, item := range page.Items {
			ids = append(ids, c.idOf(item))
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// ids returns the ids of a customer's orders, joined.
func (c *client) ids(customer string) string {
	c.Helper()
	ids, err := c.query(key(customer), "SELECT * FROM c")
	c.must(err)
	return strings.Join(ids, " ")
}

func (c *client) idOf(item []byte) string {
	c.Helper()
	var named struct{ ID string }
	c.must(json.Unmarshal(item, &named))
	return named.ID
}

// refusal returns the response of an error, which azcosmos returns for a status of 400 or more.
func refusal(t testing.TB, err error) *http.Response {
	t.Helper()
	refused, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		t.Fatalf("no response: %v", err)
	}
	return refused.RawResponse
}

// statusOf returns the status of an error: 200 without one, and 0 if there was no response.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if refused, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return refused.StatusCode
	}
	return 0
}

func wantStatus(t testing.TB, what string, err error, want int) {
	t.Helper()
	if got := statusOf(err); got != want {
		t.Errorf("%s: status %d, want %d: %v", what, got, want, err)
	}
}

// answer is the response to a request of the REST protocol.
type answer struct {
	*http.Response
	text string
}

const (
	orders = "dbs/shop/colls/orders"
	docs   = orders + "/docs"
	sprocs = orders + "/sprocs"
)

// rest sends a request of the REST protocol.
func (c *client) rest(method, path, body string, headers ...string) answer {
	c.Helper()
	response, err := c.transport.Send(c.Context(), method, path, body, headers...)
	c.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	c.must(err)
	return answer{response, string(text)}
}

// expect ends the test if an answer has another status.
func (c *client) expect(status int, got answer) answer {
	c.Helper()
	if got.StatusCode != status {
		c.Fatalf("status %d, want %d: %s", got.StatusCode, status, got.text)
	}
	return got
}

// of is the header that names a customer's partition.
func of(customer string) string { return fmt.Sprintf("x-ms-documentdb-partitionkey: [%q]", customer) }

// register stores a procedure.
func (c *client) register(id, body string) {
	c.Helper()
	definition, err := json.Marshal(map[string]string{"id": id, "body": body})
	c.must(err)
	c.expect(http.StatusCreated, c.rest("POST", sprocs, string(definition)))
}

// execute executes a procedure in a customer's partition, with arguments in JSON.
func (c *client) execute(id, customer, arguments string) answer {
	c.Helper()
	return c.rest("POST", sprocs+"/"+id, arguments, of(customer))
}

// customersOf returns a number of customers in a physical range.
func (c *client) customersOf(rangeID string, n int) (customers []string) {
	c.Helper()
	for i := 0; len(customers) < n && i < 100; i++ {
		customer := fmt.Sprint("customer", i)
		c.put(customer, "1")
		// A list of a partition and a range is their intersection.
		got := c.expect(http.StatusOK, c.rest("GET", docs, "", of(customer), inRange(rangeID)))
		if strings.Contains(got.text, customer) {
			customers = append(customers, customer)
		}
	}
	if len(customers) < n {
		c.Fatalf("range %s has only %v", rangeID, customers)
	}
	return customers
}

// inRange is the header that names a physical range.
func inRange(id string) string { return "x-ms-documentdb-partitionkeyrangeid: " + id }
