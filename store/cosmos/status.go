package cosmos

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos/retry"
)

// StatusRetryWith is the service's status for a transaction that conflicted with a concurrent one.
// Nothing of it was committed.
const StatusRetryWith = retry.StatusRetryWith

// Substatuses that change the meaning of a status (HTTP status codes page of Azure Cosmos DB).
const (
	ReadSessionNotAvailable = 1002 // with 404: the replica is behind the session token
	OwnerNotFound           = 1003 // with 404: the container does not exist
	partitionFull           = 1014 // with 403: the logical partition has reached its limit of 20 GB
	managementForbidden     = 5300 // with 403: requires the account's key, not an Entra ID token
)

// Response headers that describe an error. All header names are in net/http's canonical form, which
// it looks up without allocating.
const (
	substatusHeader  = retry.SubstatusHeader
	retryAfterHeader = "X-Ms-Retry-After-Ms"
)

// StatusOf returns the HTTP status and the substatus of an error; 0 if the service did not
// answer.
func StatusOf(err error) (status, substatus int) {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return 0, 0
	}
	if answer.RawResponse == nil {
		return answer.StatusCode, 0
	}
	return answer.StatusCode, retry.Substatus(answer.RawResponse)
}

// IsItemMissing reports whether the account answered that an item, a script or a container does not
// exist. It is false if the replica that answered is behind the session (1002), and if the item's
// container does not exist (1003).
func IsItemMissing(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusNotFound && substatus != ReadSessionNotAvailable && substatus != OwnerNotFound
}

// IsScriptTimeout reports whether one of our scripts stopped because its time was nearly up. It may
// be executed again: the service does not count such an execution against the script.
func IsScriptTimeout(err error) bool {
	status, substatus := StatusOf(err)
	return !IsExhausted(err) && status == http.StatusBadRequest && substatus == http.StatusTooManyRequests
}

// IsManagementForbidden reports whether an Entra ID token was used for a request that only the
// account's key may send.
func IsManagementForbidden(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusForbidden && substatus == managementForbidden
}

// ExistsFromError reports whether a resource exists, given the error of a read of it. It returns
// err if the account did not answer that question.
func ExistsFromError(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if status, substatus := StatusOf(err); status == http.StatusNotFound && substatus != ReadSessionNotAvailable {
		return false, nil
	}
	return false, err
}

// throughputLimit is the substatus of a 400 for what would exceed the account's limit of its total
// throughput (aka.ms/cosmos-tp-limit). No document has it, but answers of the service do.
const throughputLimit = 1028

// IsOverThroughputLimit reports whether the account refused a throughput beyond its total limit.
func IsOverThroughputLimit(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusBadRequest && (substatus == throughputLimit || strings.Contains(err.Error(), "total throughput limit"))
}

// CreatedFromError reports whether a resource was created, given the error of the create. It
// returns false if the resource existed before. It returns err for any other error.
func CreatedFromError(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if status, _ := StatusOf(err); status == http.StatusConflict {
		return false, nil
	}
	return false, err
}

// SetupError replaces the long text of an error of the account by one sentence for the operator who
// sets the account up. It returns err itself if the account did not answer.
func SetupError(err error) error {
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err != nil {
		err = e.Err
	}
	switch status, substatus := StatusOf(err); status {
	case 0:
		return err
	case http.StatusUnauthorized:
		return errors.New("the account rejected the key or token (401): check COSMOS_KEY, the file that COSMOS_KEY_FILE names, or the Entra ID credential")
	case http.StatusForbidden:
		if substatus == managementForbidden {
			return errors.New("an Entra ID credential cannot create or read definitions, even with every role (403/5300): set COSMOS_KEY for provision, or deploy the output of provision --print bicep")
		}
		return fmt.Errorf("the account forbids the request (403/%d): check its firewall and the roles of the credential", substatus)
	default:
		return fmt.Errorf("the account answered %d: %w", status, err)
	}
}
