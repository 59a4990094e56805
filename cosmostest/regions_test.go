package cosmostest_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
)

// TestFailover checks that azcosmos, without preferred regions, reads and writes an account that
// fails over between two regions in each way, and what the regions answer: "Troubleshoot the
// availability of Azure Cosmos DB SDKs in multiregional environments" and "HTTP status codes for
// Azure Cosmos DB" (403/3 and 403/1008).
func TestFailover(t *testing.T) {
	for name, state := range map[string]cosmostest.RegionState{
		"online": cosmostest.Online, "removed": cosmostest.Removed, "unreachable": cosmostest.Unreachable,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(t, cosmostest.Options{Regions: true})
				for i := range 4 {
					s.put("ada", "1")
					if !s.has("ada", "1") {
						t.Error("the order is missing")
					}
					s.FailRegion(state)
					s.Failover()
					s.Transport.CloseIdleConnections() // azcosmos does not, and may ask a removed region for ever
					if state == cosmostest.Unreachable {
						// azcosmos reports the first writes that find no region.
						for n := 0; s.tryPut("ada", "2") != nil && n < 10; n++ {
						}
					}
					begun := time.Now()
					s.put("ada", "2")
					s.remove("ada", "2")
					if took := time.Since(begun); took > 10*time.Second {
						t.Errorf("the %d. failover took %v", i+1, took)
					}
					time.Sleep(6 * time.Minute) // azcosmos does not trust a region again for 5 minutes
				}
			})
		})
	}
}

// TestRegionsAnswer checks the answers of regions, at the account's endpoint and at their own.
func TestRegionsAnswer(t *testing.T) {
	s := newShop(t, cosmostest.Options{Regions: true})
	write := func() answer { return s.rest("POST", docs, string(order("ada", "1")), of("ada")) }
	refused := func(got answer, substatus string) {
		t.Helper()
		if s.expect(http.StatusForbidden, got).Header.Get("X-Ms-Substatus") != substatus {
			t.Errorf("substatus %s, want %s", got.Header.Get("X-Ms-Substatus"), substatus)
		}
	}
	s.expect(http.StatusCreated, write())
	s.Failover()
	refused(write(), "3")
	s.expect(http.StatusOK, s.rest("GET", docs+"/1", "", of("ada")))
	s.CloseIdleConnections()
	s.expect(http.StatusConflict, write())
	s.FailRegion(cosmostest.Removed)
	refused(write(), "1008")
	refused(s.rest("GET", docs+"/1", "", of("ada")), "1008")
	refused(s.rest("GET", "", ""), "1008")
	s.Failover()
	refused(write(), "1008")
	s.CloseIdleConnections()
	s.expect(http.StatusConflict, write())
	s.FailRegion(cosmostest.Unreachable)
	if _, err := s.transport.Send(t.Context(), "GET", docs+"/1", "", of("ada")); err == nil {
		t.Error("an unreachable region answered")
	}
	s.Failover()
	s.expect(http.StatusConflict, write())
}
