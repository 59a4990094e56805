package cosmos

import (
	"context"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// AccountError reports that an account has settings with which the store would be wrong.
type AccountError struct{ Reason string }

// Error returns a sentence for the operator, which says what to change.
func (e *AccountError) Error() string { return e.Reason }

// IsDefinite implements DefiniteError.
func (*AccountError) IsDefinite() {}

var _ DefiniteError = (*AccountError)(nil)

// Consistency levels that the store needs to know, by their names in descriptions of accounts
// (learn.microsoft.com/azure/cosmos-db/consistency-levels).
const (
	consistentPrefix = "ConsistentPrefix"
	eventual         = "Eventual"
)

// CheckAccount verifies that the store can work on the account, by its latest description. It sends
// a request only before the first one; azcosmos then reads it every five minutes, along with other
// requests.
//
// On weaker levels than Session, session tokens have no effect, so a read may miss the writes of
// the same client, and commands would decide by old states. If several regions write, the last of
// two concurrent writes wins (learn.microsoft.com/azure/cosmos-db/conflict-resolution-policies), so
// counters, usernames and leases would lose some. Errors: *AccountError; others if the account does
// not answer.
func (db *DB) CheckAccount(ctx context.Context) error {
	account, ok := db.regions.latest()
	if !ok {
		if err := db.regions.readAccount(ctx); err != nil {
			return SetupError(ToBlogError(err))
		}
		account, _ = db.regions.latest()
	}
	switch {
	case account.Consistency == consistentPrefix || account.Consistency == eventual:
		return &AccountError{"its consistency level is " + account.Consistency + ", with which clients may miss what they have written: " +
			"set the level Session (az cosmosdb update --default-consistency-level Session)"}
	case account.WritesInSeveralRegions:
		return &AccountError{"it writes in several regions, which would lose likes, comments and usernames: " +
			"turn that off (az cosmosdb update --enable-multiple-write-locations false)"}
	}
	return nil
}

// IsServerless reports whether the account is serverless. Such an account rejects a request for the
// list of its throughputs (offers).
func (db *DB) IsServerless(ctx context.Context) (bool, error) { return db.rest.isServerless(ctx) }

func (c *restClient) isServerless(ctx context.Context) (bool, error) {
	request, err := runtime.NewRequest(ctx, http.MethodGet, runtime.JoinPaths(c.endpoint, "offers"))
	if err != nil {
		return false, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	err = c.send(request, nil, http.StatusOK, nil)
	if status, _ := StatusOf(err); status == http.StatusBadRequest && strings.Contains(err.Error(), "serverless") {
		return true, nil
	}
	return false, err
}

// readAccount reads the description of the account at a host. regionPolicy takes the regions from
// the answer.
func (c *restClient) readAccount(ctx context.Context, host string) error {
	request, err := runtime.NewRequest(ctx, http.MethodGet, c.endpoint)
	if err != nil {
		return err
	}
	request.Raw().Host, request.Raw().URL.Host = host, host
	request.Raw().Header.Set(versionHeader, apiVersion)
	return c.send(request, nil, http.StatusOK, nil)
}
