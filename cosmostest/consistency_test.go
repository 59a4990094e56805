package cosmostest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
)

// TestConsistency reads on accounts of each level, behind a follower that lags: with a session
// token of the latest write, and without one. learn.microsoft.com/azure/cosmos-db/
// consistency-levels: with Session, a client reads its own writes by its token; weaker levels do
// not promise that. Strong and bounded staleness read from two replicas of the region, for twice
// the charge.
func TestConsistency(t *testing.T) {
	for _, test := range []struct {
		level            cosmostest.Consistency
		withToken, fresh bool // whether a read with a token, and without one, sees the write
		factor           float64
	}{
		{cosmostest.Strong, true, true, 2},
		{cosmostest.BoundedStaleness, true, true, 2},
		{cosmostest.Session, true, false, 1},
		{cosmostest.ConsistentPrefix, false, false, 1},
		{cosmostest.Eventual, false, false, 1},
	} {
		t.Run(string(test.level), func(t *testing.T) {
			s, _ := newReplicated(t, cosmostest.Options{Consistency: test.level})
			s.put("ada", "1")
			s.Follower.Hold()
			s.put("ada", "2")
			if got := s.has("ada", "2"); got != test.withToken {
				t.Errorf("with a session token, a client sees the last write: %t", got)
			}
			if got := s.seen("ada") == "1 2"; got != test.fresh {
				t.Errorf("without a session token, a client sees the last write: %t", got)
			}
			answer := s.expect(http.StatusOK, s.rest(http.MethodGet, docs+"/1", "", of("ada")))
			if charge, err := strconv.ParseFloat(answer.Header.Get("X-Ms-Request-Charge"), 64); err != nil || charge != test.factor {
				t.Errorf("a point read is charged %v RU, %v", charge, err)
			}
			s.Follower.CatchUp()
		})
	}
}

// TestSetConsistency changes the description of an account.
func TestSetConsistency(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	wantDescription := func(parts ...string) {
		t.Helper()
		text := s.expect(http.StatusOK, s.rest(http.MethodGet, "", "")).text
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("the account lacks %s: %s", part, text)
			}
		}
	}
	wantDescription(`"userConsistencyPolicy":{"defaultConsistencyLevel":"Session"}`, `"enableMultipleWriteLocations":false`)
	s.SetConsistency(cosmostest.Eventual, true)
	wantDescription(`"userConsistencyPolicy":{"defaultConsistencyLevel":"Eventual"}`, `"enableMultipleWriteLocations":true`)
}
