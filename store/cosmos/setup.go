package cosmos

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cosmosblog/blog"
)

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
