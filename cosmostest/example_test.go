package cosmostest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// A point read and a query. In a test, New(t, …) opens the account and closes it.
func Example() {
	account, err := cosmostest.Open(cosmostest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer account.Close()
	ctx := context.Background()
	orders := account.Container("shop", "orders", "/customer")
	ada := azcosmos.NewPartitionKeyString("ada")
	for _, order := range []string{
		`{"id": "1", "customer": "ada", "total": 30}`,
		`{"id": "2", "customer": "ada", "total": 70}`,
	} {
		if _, err := orders.CreateItem(ctx, ada, []byte(order), nil); err != nil {
			log.Fatal(err)
		}
	}

	read, err := orders.ReadItem(ctx, ada, "1", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("read:", read.RequestCharge, "RU")

	pager := orders.NewQueryItemsPager("SELECT VALUE c.id FROM c WHERE c.total > 50", ada, nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("found: %s\n", page.Items)
	}
	// Output:
	// read: 1 RU
	// found: ["2"]
}

// A stored procedure. azcosmos cannot register or execute one; Send sends any signed request.
func ExampleTransport_Send() {
	account, err := cosmostest.Open(cosmostest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer account.Close()
	account.Container("shop", "orders", "/customer")
	send := func(path, body string, headers ...string) string {
		response, err := account.Send(context.Background(), "POST", path, body, headers...)
		if err != nil {
			log.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode >= 400 {
			log.Fatalf("%s: %s %v", response.Status, text, err)
		}
		return string(text)
	}

	send("dbs/shop/colls/orders/sprocs", `{"id": "place", "body": "`+strings.Join(strings.Fields(`
		function place(order) {
			__.createDocument(__.getSelfLink(), order, function (err, stored) {
				if (err) throw err;
				getContext().getResponse().setBody('order ' + stored.id);
			});
		}`), " ")+`"}`)
	fmt.Println(send("dbs/shop/colls/orders/sprocs/place", `[{"id": "1", "customer": "ada"}]`,
		`x-ms-documentdb-partitionkey: ["ada"]`))
	// Output: "order 1"
}

// createOnce creates an item. It repeats a refused request after the time that the account asks
// for. It also repeats a request whose answer was lost: that one may have succeeded, so a conflict
// is then a success. Only this client creates items with this id.
func createOnce(ctx context.Context, c *azcosmos.ContainerClient, pk azcosmos.PartitionKey, item []byte) error {
	single := policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1}) // no retries but these
	for tries := 1; ; tries++ {
		_, err := c.CreateItem(single, pk, item, nil)
		refusal, answered := errors.AsType[*azcore.ResponseError](err)
		wait := 10 * time.Millisecond
		switch {
		case err == nil:
			return nil
		case answered && refusal.StatusCode == http.StatusConflict && tries > 1:
			return nil
		case tries == 5 || ctx.Err() != nil || answered && refusal.StatusCode != http.StatusTooManyRequests:
			return err
		case answered:
			milliseconds, _ := strconv.Atoi(refusal.RawResponse.Header.Get("x-ms-retry-after-ms"))
			wait = time.Duration(milliseconds) * time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A test of one's own retries: two refusals, then an answer that is lost.
func ExampleFault() {
	account, err := cosmostest.Open(cosmostest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer account.Close()
	ctx := context.Background()
	orders := account.Container("shop", "orders", "/customer")

	refuse := cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 10")
	account.Inject(cosmostest.First(2, refuse))
	err = createOnce(ctx, orders, azcosmos.NewPartitionKeyString("ada"), []byte(`{"id": "1", "customer": "ada"}`))
	fmt.Println("refused twice:", err, "after", len(account.Requests()), "requests")

	account.Inject(cosmostest.Nth(1, cosmostest.CutAfter))
	err = createOnce(ctx, orders, azcosmos.NewPartitionKeyString("ada"), []byte(`{"id": "2", "customer": "ada"}`))
	fmt.Println("answer lost:", err, "after", len(account.Requests()), "requests")

	account.Inject(cosmostest.From(1, cosmostest.CutBefore))
	err = createOnce(ctx, orders, azcosmos.NewPartitionKeyString("ada"), []byte(`{"id": "3", "customer": "ada"}`))
	fmt.Println("no account:", errors.Is(err, cosmostest.ErrCut), "after", len(account.Requests()), "requests")
	// Output:
	// refused twice: <nil> after 3 requests
	// answer lost: <nil> after 2 requests
	// no account: true after 5 requests
}

// Under session consistency, a read without the writer's session token may return an older state.
func ExampleReplica() {
	account, err := cosmostest.Open(cosmostest.Options{Follower: true})
	if err != nil {
		log.Fatal(err)
	}
	defer account.Close()
	ctx := context.Background()
	writer := account.Container("shop", "orders", "/customer")
	other := account.Container("shop", "orders", "/customer") // a client with a session of its own
	ada := azcosmos.NewPartitionKeyString("ada")

	account.Follower.Hold()
	written, err := writer.CreateItem(ctx, ada, []byte(`{"id": "1", "customer": "ada"}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = other.ReadItem(ctx, ada, "1", nil)
	fmt.Println("another session:", status(err))
	_, err = other.ReadItem(ctx, ada, "1", &azcosmos.ItemOptions{SessionToken: written.SessionToken})
	fmt.Println("with the session token:", status(err))
	account.Follower.CatchUp()
	_, err = other.ReadItem(ctx, ada, "1", nil)
	fmt.Println("after the replication:", status(err))
	// Output:
	// another session: 404
	// with the session token: 200
	// after the replication: 200
}

func status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if refusal, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return refusal.StatusCode
	}
	return 0
}

// A reader of the change feed keeps its position when the container's range is split.
func ExampleAccount_Split() {
	account, err := cosmostest.Open(cosmostest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer account.Close()
	ctx := context.Background()
	orders := account.Container("shop", "orders", "/customer")
	create := func(id, customer string) {
		item := fmt.Appendf(nil, `{"id": %q, "customer": %q}`, id, customer)
		if _, err := orders.CreateItem(ctx, azcosmos.NewPartitionKeyString(customer), item, nil); err != nil {
			log.Fatal(err)
		}
	}
	ranges, err := orders.ReadFeedRanges(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	beginning := time.Unix(0, 0)
	options := &azcosmos.ChangeFeedOptions{FeedRange: &ranges[0], StartFrom: &beginning}
	changes := func() (n int) {
		for {
			page, err := orders.ReadChangeFeed(ctx, options)
			if err != nil {
				log.Fatal(err)
			}
			options.Continuation = &page.ContinuationToken
			if page.Count == 0 {
				return n
			}
			n += page.Count
		}
	}

	create("1", "ada")
	create("2", "ben")
	fmt.Println("before the split:", changes(), "changes")
	if err := account.Split("shop", "orders", "0"); err != nil {
		log.Fatal(err)
	}
	create("3", "ada")
	create("4", "ben")
	create("5", "cyd")
	fmt.Println("after the split:", changes(), "changes")
	// Output:
	// before the split: 2 changes
	// after the split: 3 changes
}

// A failover between regions, while the client still reaches the former one.
func ExampleAccount_Failover() {
	account, err := cosmostest.Open(cosmostest.Options{Regions: true})
	if err != nil {
		log.Fatal(err)
	}
	defer account.Close()
	account.Container("shop", "orders", "/customer")
	account.Failover()
	send := func() {
		answer, err := account.Send(context.Background(), "POST", "dbs/shop/colls/orders/docs", `{"id": "1", "customer": "ada"}`,
			`x-ms-documentdb-partitionkey: ["ada"]`)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Status, answer.Header.Get("x-ms-substatus"))
	}
	send()
	account.CloseIdleConnections()
	send()
	// Output:
	// 403 Forbidden 3
	// 201 Created
}
