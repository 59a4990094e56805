package cosmostest

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// RegionState is what a region of an account does.
type RegionState int

const (
	Online      RegionState = iota // it answers; if it is not the write region, writes get 403/3
	Removed                        // every request gets 403/1008, and the account does not name it
	Unreachable                    // connections are refused
)

// regionNames are the names of the regions, by their number.
var regionNames = [2]string{"East US", "West US"}

// regionPrefix returns the begin of a region's host, before that of the account's endpoint.
func regionPrefix(region int) string {
	return strings.ReplaceAll(strings.ToLower(regionNames[region]), " ", "-") + "."
}

// regions are the two regions of an account, of which one writes. They may be used concurrently.
type regions struct {
	mu    sync.Mutex
	write int
	state [2]RegionState
}

// now returns the write region, and the states of both.
func (r *regions) now() (write int, state [2]RegionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write, r.state
}

// FailRegion changes the state of the write region, without a failover. It needs Options.Regions.
func (a *Account) FailRegion(state RegionState) {
	a.regions.mu.Lock()
	defer a.regions.mu.Unlock()
	a.regions.state[a.regions.write] = state
}

// Failover makes the other region, which then is Online, the write region. The former one keeps its
// state, and no write is lost. Connections to the account's endpoint stay with the former region
// until they are closed. It needs Options.Regions.
func (a *Account) Failover() {
	a.regions.mu.Lock()
	defer a.regions.mu.Unlock()
	a.regions.write = 1 - a.regions.write
	a.regions.state[a.regions.write] = Online
}

// regionWay is one client's way to an account with regions. It may be used concurrently.
type regionWay struct {
	regions *regions
	next    policy.Transporter

	mu        sync.Mutex
	connected bool // to the account's endpoint
	home      int  // the region of these connections
}

// Do implements policy.Transporter.
func (w *regionWay) Do(request *http.Request) (*http.Response, error) {
	write, state := w.regions.now()
	region, account := w.regionOf(request.URL.Host, write)
	switch {
	case state[region] == Unreachable:
		w.CloseIdleConnections()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case state[region] == Removed:
		return Refuse(http.StatusForbidden, "x-ms-substatus: 1008")(1, request, w.next)
	case region != write && !isRead(request):
		return Refuse(http.StatusForbidden, "x-ms-substatus: 3")(1, request, w.next)
	}
	response, err := w.next.Do(request)
	if err != nil || pathOf(request) != "" || response.StatusCode != http.StatusOK {
		return response, err
	}
	return response, nameRegions(response, request.URL.Scheme+"://", account, write, state)
}

// regionOf returns the region to which a host leads, and the host of the account's endpoint.
func (w *regionWay) regionOf(host string, write int) (region int, account string) {
	for region := range regionNames {
		if account, ok := strings.CutPrefix(host, regionPrefix(region)); ok {
			return region, account
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.connected {
		w.connected, w.home = true, write
	}
	return w.home, host
}

// CloseIdleConnections lets the next request to the account's endpoint connect again, to the write
// region.
func (w *regionWay) CloseIdleConnections() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connected = false
}

// nameRegions writes the regions into the answer that describes the account. The write region is
// the first of those that can be read.
func nameRegions(response *http.Response, scheme, account string, write int, state [2]RegionState) error {
	var description map[string]any
	if err := json.NewDecoder(response.Body).Decode(&description); err != nil {
		return err
	}
	location := func(region int) map[string]string {
		return map[string]string{
			"name":                    regionNames[region],
			"databaseAccountEndpoint": scheme + regionPrefix(region) + account + "/",
		}
	}
	readable := []any{location(write)}
	if other := 1 - write; state[other] != Removed {
		readable = append(readable, location(other))
	}
	description["writableLocations"], description["readableLocations"] = []any{location(write)}, readable
	body, err := json.Marshal(description)
	if err != nil {
		return err
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}
