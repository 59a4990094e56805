package monitor

import (
	"cosmosblog/internal/telemetry"
	"cosmosblog/store/readcache"
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
