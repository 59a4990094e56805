package cosmostest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// served returns a client that reaches an account by its port, with the SDK's own transport.
func served(t *testing.T, transport *cosmostest.Transport) *client {
	t.Helper()
	endpoint, key := transport.Serve()
	credential, err := azcosmos.NewKeyCredential(key)
	c := &client{TB: t, transport: transport}
	c.must(err)
	c.azcosmos, err = azcosmos.NewClientWithKey(endpoint, credential, patient)
	c.must(err)
	t.Cleanup(c.azcosmos.Close)
	c.orders, err = c.azcosmos.NewContainer("shop", "orders")
	c.must(err)
	return c
}

func TestServe(t *testing.T) {
	a := cosmostest.New(t, cosmostest.Options{})
	c := served(t, a.Transport)
	c.provision(2)
	c.put("ada", "1")
	if c.ids("ada") != "1" || c.has("ada", "2") {
		t.Error("a read returned something else")
	}
	if other := newClient(t, a.NewTransport()); !other.has("ada", "1") {
		t.Error("another client does not see the item")
	}
}

// TestServedFaults injects faults between a client of the port and the account.
func TestServedFaults(t *testing.T) {
	a := cosmostest.New(t, cosmostest.Options{})
	c := served(t, a.Transport)
	c.provision(1)
	for _, test := range []struct {
		id       string
		fault    cosmostest.Fault
		executed bool
	}{{"before", cosmostest.CutBefore, false}, {"after", cosmostest.CutAfter, true}} {
		a.Inject(cosmostest.First(1, test.fault))
		if err := c.tryPut("ada", test.id); !errors.Is(err, io.EOF) {
			t.Errorf("%s: not a closed connection: %v", test.id, err)
		}
		if n := len(a.Requests()); n != 1 {
			t.Errorf("%s: %d requests", test.id, n)
		}
		if c.has("ada", test.id) != test.executed {
			t.Errorf("%s: executed %t", test.id, !test.executed)
		}
	}
	a.Inject(cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 7"))
	refused := refusal(t, c.tryPut("ada", "3"))
	if refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("X-Ms-Retry-After-Ms") != "7" {
		t.Errorf("%d with %v", refused.StatusCode, refused.Header)
	}
}

// TestServedSilence checks that the account notices when a client of the port gives up, so that the
// server can end.
func TestServedSilence(t *testing.T) {
	a := cosmostest.New(t, cosmostest.Options{})
	ended := make(chan error, 1)
	arrived, cancel := context.WithCancel(t.Context())
	a.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		cancel() // the request arrived; its client gives up
		response, err := cosmostest.Silence(n, request, next)
		ended <- err
		return response, err
	})
	endpoint, _ := a.Serve()
	request, err := http.NewRequestWithContext(arrived, "POST", endpoint+"/"+docs, strings.NewReader(`{"id":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(request); err == nil {
		t.Errorf("answered with %s", response.Status)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("silence ended with %v", err)
	}
}
