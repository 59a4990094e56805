//go:build ci

package conformance

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
)

var javascriptFlag = flag.Bool("javascript", false,
	"run the tests of the JavaScript SDK, which need Node.js and its packages (npm ci in the folder javascript)")

// TestJavaScript runs the tests of the JavaScript SDK against the configured account, or an account
// of cosmostest. In the latter case, some of them also use a second account, whose faults, ranges
// and clock they control.
func TestJavaScript(t *testing.T) {
	if !*javascriptFlag {
		t.Skip("without -javascript")
	}
	command := exec.CommandContext(t.Context(), "npm", "test", "--prefix", "javascript", "--silent")
	if command.Env = os.Environ(); !isConfigured() {
		endpoint, key := cosmostest.New(t, cosmostest.Options{}).Serve()
		c := newControlled(t)
		controlled, _ := c.account.Serve()
		command.Env = append(command.Env, "COSMOS_CONFORMANCE_ENDPOINT="+endpoint, "COSMOS_CONFORMANCE_KEY="+key,
			"COSMOS_CONFORMANCE_ENGINE=1", "COSMOS_CONFORMANCE_CONTROLLED="+controlled,
			"COSMOS_CONFORMANCE_CONTROLLED_KEY="+c.account.Key(), "COSMOS_CONFORMANCE_CONTROL="+c.serve())
	}
	output, err := command.CombinedOutput()
	if t.Logf("%s", output); err != nil {
		t.Error(err)
	}
}

// controlled is an account that a program in another language controls by HTTP.
type controlled struct {
	t        *testing.T
	account  *cosmostest.Account
	clock    *cosmostest.Clock
	requests atomic.Int64 // to items and scripts, since the last order
}

func newControlled(t *testing.T) *controlled {
	c := &controlled{t: t, clock: cosmostest.NewClock(time.Now())}
	c.account = cosmostest.New(t, cosmostest.Options{Now: c.clock.Now})
	return c
}

// order is what a program asks for. All parts are optional.
type order struct {
	// Refuse answers the next requests to items and scripts with a status.
	Refuse struct {
		Times   int64    `json:"times"`
		Status  int      `json:"status"`
		Headers []string `json:"headers"`
	} `json:"refuse"`
	Split   struct{ Database, Container, Range string } `json:"split"`
	Merge   struct{ Database, Container, Range string } `json:"merge"`
	Advance float64                                     `json:"advance"` // seconds
}

// serve serves the orders until the test ends, and returns their address. The answer to an order
// has the number of requests since the one before.
func (c *controlled) serve() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var o order
		err := json.NewDecoder(r.Body).Decode(&o)
		if err == nil && o.Split.Container != "" {
			err = c.account.Split(o.Split.Database, o.Split.Container, o.Split.Range)
		}
		if err == nil && o.Merge.Container != "" {
			err = c.account.MergeRanges(o.Merge.Database, o.Merge.Container, o.Merge.Range)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.clock.Advance(time.Duration(o.Advance * float64(time.Second)))
		requests := c.requests.Swap(0)
		refuse := cosmostest.Refuse(o.Refuse.Status, o.Refuse.Headers...)
		c.account.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			if path := request.URL.Path; !strings.Contains(path, "/docs") && !strings.Contains(path, "/sprocs") {
				return next.Do(request)
			}
			if c.requests.Add(1) <= o.Refuse.Times {
				return refuse(n, request, next)
			}
			return next.Do(request)
		})
		_ = json.NewEncoder(w).Encode(map[string]int64{"requests": requests})
	}))
	c.t.Cleanup(server.Close)
	return server.URL
}
