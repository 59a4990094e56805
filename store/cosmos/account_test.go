package cosmos_test

import (
	"errors"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
)

// TestCheckAccount refuses accounts on which the store would be wrong. Only Session and the
// stronger levels let clients read their own writes; with several write regions, the last writer
// wins by default (learn.microsoft.com/azure/cosmos-db/consistency-levels,
// conflict-resolution-policies).
func TestCheckAccount(t *testing.T) {
	for _, test := range []struct {
		level          cosmostest.Consistency
		severalRegions bool
		refused        string // a part of the reason; empty if the account can be used
	}{
		{cosmostest.Strong, false, ""},
		{cosmostest.BoundedStaleness, false, ""},
		{cosmostest.Session, false, ""},
		{cosmostest.ConsistentPrefix, false, "level is ConsistentPrefix"},
		{cosmostest.Eventual, false, "level is Eventual"},
		{cosmostest.Session, true, "several regions"},
		{cosmostest.Strong, true, "several regions"},
	} {
		account := cosmostest.New(t, cosmostest.Options{Consistency: test.level, WritesInSeveralRegions: test.severalRegions})
		db, err := cosmos.New(cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: account.Key(), Transport: account})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.CheckAccount(t.Context())
		refusal, isRefused := errors.AsType[*cosmos.AccountError](err)
		switch {
		case test.refused == "" && err != nil, test.refused != "" && !isRefused:
			t.Errorf("%+v: %v", test, err)
		case isRefused && (!strings.Contains(refusal.Reason, test.refused) || !strings.Contains(refusal.Reason, "az cosmosdb update")):
			t.Errorf("%+v: %s", test, refusal.Reason)
		}
		account.Inject(nil)
		if err := db.CheckAccount(t.Context()); (err != nil) != isRefused || len(account.Requests()) > 0 {
			t.Errorf("%+v: checked again: %v, with %d requests", test, err, len(account.Requests()))
		}
	}
}
