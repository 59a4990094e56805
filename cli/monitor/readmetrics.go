package monitor

import (
	"cosmosblog/guard/budget"
	"cosmosblog/internal/telemetry"
	"cosmosblog/store/readcache"
	"cosmosblog/store/sessions"
	"cosmosblog/store/tail"
)

// readMetrics are the metrics of a cache of reads.
func readMetrics(cache *readcache.Cache) []telemetry.Metric {
	return []telemetry.Metric{
		{
			Name:    "cosmosblog_reads_total",
			Help:    "Reads of the API, by whether the result was kept (hit), another read's (shared) or read from the database (miss).",
			Counter: true,
			Labels:  []string{"result"},
			Read: func() ([]telemetry.Value, error) {
				s := cache.Stats()
				return []telemetry.Value{
					{Value: float64(s.Hits), Labels: []string{"hit"}},
					{Value: float64(s.Shared), Labels: []string{"shared"}},
					{Value: float64(s.Misses), Labels: []string{"miss"}},
				}, nil
			},
		},
		{
			Name: "cosmosblog_read_cache_bytes",
			Help: "Approximate memory of the results of reads that are kept.",
			Read: func() ([]telemetry.Value, error) {
				return []telemetry.Value{{Value: float64(cache.Stats().Bytes)}}, nil
			},
		},
	}
}

// tailMetrics are the metrics of the tail that counts changes for a cache of reads.
func tailMetrics(t *tail.Tail) []telemetry.Metric {
	return []telemetry.Metric{
		{
			Name:   "cosmosblog_tail_lag_seconds",
			Help:   "Age of the last complete poll of a container's change feeds. Absent while the container is not read or following it fails.",
			Labels: []string{"container"},
			Read: func() (values []telemetry.Value, err error) {
				for _, container := range t.Containers() {
					if lag, ok := t.Lag(container); ok {
						values = append(values, telemetry.Value{Value: lag.Seconds(), Labels: []string{container}})
					}
				}
				return values, nil
			},
		},
		{
			Name:    "cosmosblog_tail_request_charge_total",
			Help:    "Request charge in RU of the polls that keep the cache of reads current.",
			Counter: true,
			Read: func() ([]telemetry.Value, error) {
				return []telemetry.Value{{Value: t.Charge()}}, nil
			},
		},
	}
}

// budgetMetrics are the metrics of the budgets of a server's clients. They name no client.
func budgetMetrics(b *budget.Books) []telemetry.Metric {
	return []telemetry.Metric{
		{
			Name:    "cosmosblog_budget_spent_total",
			Help:    "RU that operations spent: charges of their requests, and what kept results that they used cost once.",
			Counter: true,
			Read: func() ([]telemetry.Value, error) {
				return []telemetry.Value{{Value: b.Totals().Spent}}, nil
			},
		},
		{
			Name:    "cosmosblog_budget_caused_total",
			Help:    "Price in RU of the background work that mutations caused, by kind.",
			Counter: true,
			Labels:  []string{"work"},
			Read: func() (values []telemetry.Value, err error) {
				for work, price := range b.Totals().Caused {
					values = append(values, telemetry.Value{Value: price, Labels: []string{work}})
				}
				return values, nil
			},
		},
		{
			Name:    "cosmosblog_budget_refused_total",
			Help:    "Requests that were refused, by whose budget was used up: the account's or the address's.",
			Counter: true,
			Labels:  []string{"budget"},
			Read: func() (values []telemetry.Value, err error) {
				for kind, n := range b.Totals().Refused {
					values = append(values, telemetry.Value{Value: float64(n), Labels: []string{budget.Kind(kind).String()}})
				}
				return values, nil
			},
		},
	}
}

// sessionMetrics are the metrics of the sessions of a server's clients.
func sessionMetrics(s *sessions.Sessions) []telemetry.Metric {
	counter := func(name, help string, of func(sessions.Stats) float64) telemetry.Metric {
		return telemetry.Metric{Name: name, Help: help, Counter: true, Read: func() ([]telemetry.Value, error) {
			return []telemetry.Value{{Value: of(s.Stats())}}, nil
		}}
	}
	return []telemetry.Metric{
		counter("cosmosblog_session_waits_total", "Queries of views that lacked what their client had written, as far as the server knew.",
			func(s sessions.Stats) float64 { return float64(s.Waits) }),
		counter("cosmosblog_session_wait_seconds_total", "Time for which these queries waited.",
			func(s sessions.Stats) float64 { return s.Waited.Seconds() }),
		counter("cosmosblog_session_stale_total", "Answers with `stale` in their extensions.",
			func(s sessions.Stats) float64 { return float64(s.Stale) }),
		counter("cosmosblog_session_request_charge_total", "Request charge in RU of reading the checkpoints of projectors for these queries.",
			func(s sessions.Stats) float64 { return s.Charge }),
	}
}
