package cosmos

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// StatusRetryWith is the service's status for a transaction that conflicted with a concurrent one.
// Nothing of it was committed.
const StatusRetryWith = 449

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
	substatusHeader  = "X-Ms-Substatus" // what a status means
	retryAfterHeader = "X-Ms-Retry-After-Ms"
)

// substatusOf returns the substatus of an answer, or 0 if it has none.
func substatusOf(response *http.Response) int {
	n, err := strconv.Atoi(response.Header.Get(substatusHeader))
	if err != nil {
		return 0
	}
	return n
}

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
	return answer.StatusCode, substatusOf(answer.RawResponse)
}

// IsItemMissing reports whether the account answered that an item, a script or a container does not
// exist. It is false if the replica that answered is behind the session (1002), and if the item's
// container does not exist (1003).
func IsItemMissing(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusNotFound && substatus != ReadSessionNotAvailable && substatus != OwnerNotFound
}
