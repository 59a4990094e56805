package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"cosmosblog/guard/budget"
)

var topText = text{
	short: "Shows which clients and operations spend most RU",
	long: `Shows which accounts and addresses, which operations and which background work have spent most RU
at a running server in the last minutes. It asks the server at --metrics-addr or, in development,
at --addr. Accounts are shown by the ids of their users.

`,
}

// topTimeout is the time in which a server must answer. Its report is made from memory.
const topTimeout = 5 * time.Second

func runTop(ctx context.Context, task Task) error {
	top, err := fetchTop(ctx, cmp.Or(task.Config.MetricsAddr, task.Config.Addr))
	if err != nil {
		return err
	}
	task.Printf("in the last %.0f s, in RU a second:\n", top.Seconds)
	for _, list := range []struct {
		title    string
		spenders []budget.Spender
	}{{"account", top.Accounts}, {"address", top.Addresses}, {"operation", top.Operations}, {"background work", top.Work}} {
		task.Printf(topRow, "\n"+list.title, "spent", "background", "requests", "refused")
		for _, s := range list.spenders {
			perSecond := func(charge float64) string { return fmt.Sprintf("%.2f", charge/max(top.Seconds, 1)) }
			task.Printf(topRow, cell(s.Name), perSecond(s.Spent), perSecond(s.Caused), s.Requests, s.Refused)
		}
	}
	return nil
}

const topRow = "%-30s  %10v  %10v  %10v  %10v\n"

// fetchTop reads the report of the server at an address. Errors are sentences for the operator.
func fetchTop(ctx context.Context, address string) (top budget.Top, err error) {
	ctx, cancel := context.WithTimeout(ctx, topTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/top", nil)
	if err != nil {
		return top, fmt.Errorf("--metrics-addr is no address: %s", firstLine(err))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return top, fmt.Errorf("no server answers at %s: %s", address, firstLine(err))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err == nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, &top)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		return top, fmt.Errorf("the server at %s has no report: set --metrics-addr to its metrics address (status %d)", address, response.StatusCode)
	}
	return top, nil
}
