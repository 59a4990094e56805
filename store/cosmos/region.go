package cosmos

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"golang.org/x/sync/singleflight"
)

// Substatuses of 403 by which a region rejects a request that another one takes ("HTTP status codes
// for Azure Cosmos DB"). Nothing was executed.
const (
	writeForbidden  = 3    // a write, in a region that does not write, or no longer
	accountNotFound = 1008 // the account has no such region any more
)

// accountRegions follows the regions of an account by its description, the answer to GET /.
// azcosmos reads it every five minutes, and regionPolicy after a request that a region rejected or
// did not answer. It may be used concurrently.
type accountRegions struct {
	// read sends GET / to a host, through a regionPolicy.
	read func(ctx context.Context, host string) error

	configured string // the endpoint's host
	disconnect func() // closes idle connections

	mu        sync.Mutex
	account   accountDescription // zero before the first answer
	write     string             // the host of the region that writes; empty before the first answer
	known     []string           // the hosts of all regions
	lastEnded time.Time          // when the last reading ended

	readings singleflight.Group // of readAny
}

// Limits of reading the account again: of an answer, and of the rate.
const (
	accountTimeout  = 3 * time.Second // for each host
	accountInterval = time.Second
)

// silence is the time without an answer after which the account is read again, while the request
// still waits. A script may run for as long.
const silence = 5 * time.Second

// newAccountRegions returns the regions of an account of which nothing is known yet. read must be
// set before the first request. transport may be nil. Error: the endpoint is malformed.
func newAccountRegions(endpoint string, transport policy.Transporter) (*accountRegions, error) {
	configured, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	r := &accountRegions{configured: configured.Host, disconnect: func() {}}
	if connected, ok := transport.(interface{ CloseIdleConnections() }); ok {
		r.disconnect = connected.CloseIdleConnections
	}
	return r, nil
}

// accountDescription is what the description of an account says, besides its regions.
type accountDescription struct {
	Consistency            string // the default level, such as "Session"; empty if the description lacks it
	WritesInSeveralRegions bool
}

// latest returns the latest description. ok is false before the first.
func (r *accountRegions) latest() (account accountDescription, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.account, r.write != ""
}

// readAccount reads the description at the configured endpoint.
func (r *accountRegions) readAccount(ctx context.Context) error { return r.read(ctx, r.configured) }

// learn takes the regions from a description of the account.
func (r *accountRegions) learn(response *http.Response) {
	type location struct {
		Endpoint string `json:"databaseAccountEndpoint"`
	}
	var account struct {
		Writable []location `json:"writableLocations"`
		Readable []location `json:"readableLocations"`

		WritesInSeveralRegions bool `json:"enableMultipleWriteLocations"`
		ConsistencyPolicy      struct {
			Level string `json:"defaultConsistencyLevel"`
		} `json:"userConsistencyPolicy"`
	}
	body, err := runtime.Payload(response)
	if err != nil || json.Unmarshal(body, &account) != nil {
		return
	}
	var hosts []string
	for _, l := range slices.Concat(account.Writable, account.Readable) {
		if endpoint, err := url.Parse(l.Endpoint); err == nil && endpoint.Host != "" && !slices.Contains(hosts, endpoint.Host) {
			hosts = append(hosts, endpoint.Host)
		}
	}
	if len(account.Writable) == 0 || len(hosts) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write, r.known = hosts[0], hosts
	r.account = accountDescription{Consistency: account.ConsistencyPolicy.Level, WritesInSeveralRegions: account.WritesInSeveralRegions}
}

// target returns the host of the region that writes, or the configured one if it is unknown.
// mayMove reports whether another host may come to be the one that writes: the account has several,
// or a region with a host of its own. An engine has only the configured one.
func (r *accountRegions) target() (host string, mayMove bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.write == "" {
		return r.configured, len(r.known) > 1
	}
	return r.write, len(r.known) > 1 || r.write != r.configured
}

func (r *accountRegions) host() string {
	host, _ := r.target()
	return host
}

// refresh reads the account, once for all concurrent callers. The channel receives at the end.
// rejected is the host that rejected a request, or could not be connected to; it is empty if a host
// only does not answer.
func (r *accountRegions) refresh(rejected string) <-chan singleflight.Result {
	return r.readings.DoChan("", func() (any, error) { r.readAny(rejected); return nil, nil })
}

// readAny reads the account at the hosts, until one names a region that writes and did not reject a
// request. It does nothing within accountInterval after the last reading. Connections of before a
// failover may lead to the former region, so it closes them. It does not if a host is only slow:
// then new connections would be a further load.
func (r *accountRegions) readAny(rejected string) {
	r.mu.Lock()
	hosts, write, isEarly := append([]string{r.configured}, r.known...), r.write, time.Since(r.lastEnded) < accountInterval
	r.mu.Unlock()
	if isEarly {
		return
	}
	if rejected != "" {
		r.disconnect()
	}
	for _, host := range hosts {
		ctx, cancel := context.WithTimeout(context.Background(), accountTimeout)
		err := r.read(ctx, host)
		cancel()
		if err == nil && r.host() != rejected {
			break
		}
	}
	if r.host() != write {
		r.disconnect()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastEnded = time.Now()
}

// regionPolicy sends all requests to the region that writes. azcosmos, without preferred regions,
// does the same, except for some minutes after a failover: it reads the account only at the
// configured endpoint, and not for a region that was in doubt within five minutes.
//
// It repeats what a region rejects (403/3 and 403/1008), or what was not sent because there was no
// connection and another region writes by now, until the context's deadline (patience). After
// that, a rejection is an error.
type regionPolicy struct {
	*accountRegions
	sleep sleepFunc
}

// Do implements policy.Policy.
func (p regionPolicy) Do(request *policy.Request) (*http.Response, error) {
	if isAccount(request.Raw()) {
		response, err := request.Next()
		if err == nil && response.StatusCode == http.StatusOK {
			p.learn(response)
		}
		return response, err
	}
	ctx := request.Raw().Context()
	for patience := (patience{ctx: ctx, sleep: p.sleep}); ; {
		host, mayMove := p.target()
		request.Raw().Host, request.Raw().URL.Host = host, host
		response, err := p.sendOnce(request, mayMove)
		switch {
		case err == nil && !isOfAnotherRegion(response):
			return response, nil
		case err == nil:
			await(ctx, p.refresh(host))
		case !isUnanswered(err) || !mayMove:
			return nil, err
		case !isNotSent(err):
			p.refresh("") // for later requests
			return nil, err
		default:
			if await(ctx, p.refresh(host)); p.host() == host {
				return nil, err
			}
		}
		if !patience.wait() {
			if err == nil {
				err = runtime.NewResponseError(response) // azcosmos would repeat the answer without limit
			}
			return nil, err
		}
		if err == nil {
			runtime.Drain(response)
		}
		if err := request.RewindBody(); err != nil {
			return nil, err
		}
	}
}

// sendOnce sends a request. If it is not answered for some time, it reads the account again, for
// later requests.
func (p regionPolicy) sendOnce(request *policy.Request, mayMove bool) (*http.Response, error) {
	if mayMove {
		timer := time.AfterFunc(silence, func() { p.refresh("") })
		defer timer.Stop()
	}
	return request.Next()
}

// await waits until done receives, or ctx is done.
func await(ctx context.Context, done <-chan singleflight.Result) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// isAccount reports whether a request reads the description of the account.
func isAccount(request *http.Request) bool {
	return request.Method == http.MethodGet && (request.URL.Path == "" || request.URL.Path == "/")
}

// isOfAnotherRegion reports whether a region rejected a request that another one takes.
func isOfAnotherRegion(response *http.Response) bool {
	if response.StatusCode != http.StatusForbidden {
		return false
	}
	substatus := substatusOf(response)
	return substatus == writeForbidden || substatus == accountNotFound
}
