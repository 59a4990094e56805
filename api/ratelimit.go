package api

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"cosmosblog/guard/budget"
)

// setRateLimit sets the headers that tell a client the state of its budgets, in RU and seconds, as
// draft-ietf-httpapi-ratelimit-headers-11 describes. Without a budget, there are none.
func setRateLimit(header http.Header, p *budget.Payment) {
	if p == nil {
		return
	}
	var policies, limits []string
	for _, s := range p.States() {
		policies = append(policies, fmt.Sprintf(`"%v";q=%.0f;w=%.0f`, s.Kind, s.Size, budget.Burst.Seconds()))
		limits = append(limits, fmt.Sprintf(`"%v";r=%.0f;t=%.0f`, s.Kind, math.Floor(max(s.Left, 0)), math.Ceil(s.Full.Seconds())))
	}
	if len(policies) > 0 {
		header.Set("RateLimit-Policy", strings.Join(policies, ", "))
		header.Set("RateLimit", strings.Join(limits, ", "))
	}
}
