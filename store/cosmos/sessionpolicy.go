package cosmos

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// sessionPolicy sends and stores the session tokens, which azcosmos does not do. Without a token, a
// replica that does not have the session's own writes yet may answer.
type sessionPolicy struct{ backoff }

func (p sessionPolicy) Do(request *policy.Request) (*http.Response, error) {
	session := callOf(request.Raw().Context()).session
	if session == nil {
		return request.Next()
	}
	target, ok := TargetOf(request.Raw())
	if !ok {
		return request.Next()
	}
	if !target.isRead() {
		session.sends(target.Container)
	}
	response, err := p.send(request, session, target)
	if err == nil && hasUsableToken(response) {
		ofWrite := !target.isRead() && response.StatusCode < http.StatusBadRequest
		session.keep(target.Container, response.Header.Get(SessionTokenHeader), ofWrite)
	}
	return response, err
}

// claimTries is the number of times that a read with a claim is sent. In between, a replica that
// lags has about 10 ms to reach it (backoff).
const claimTries = 2

// send sends a request with the session's token. If the token contains a claim that no replica has
// reached after claimTries, send drops the claim.
func (p sessionPolicy) send(request *policy.Request, s *session, target target) (*http.Response, error) {
	for try := 1; ; try++ {
		token, claimed := s.needed(target.Container)
		request.Raw().Header.Del(SessionTokenHeader)
		if token != "" {
			request.Raw().Header.Set(SessionTokenHeader, token)
		}
		response, err := request.Next()
		isRejected := err == nil && response.StatusCode == http.StatusNotFound && substatusOf(response) == ReadSessionNotAvailable
		s.noteRejected(target.Container, isRejected)
		if !claimed || !isRejected {
			return response, err
		}
		runtime.Drain(response)
		if err := request.RewindBody(); err != nil {
			return nil, err
		}
		if try >= claimTries || !p.wait(request.Raw().Context(), try) {
			partition := ""
			if keys := target.partitionKeys(request); len(keys) > 0 {
				partition = keys[0]
			}
			s.dropClaim(target.Container, partition)
		}
	}
}

// hasUsableToken reports whether the session token of a response may be sent with later reads: that
// of a success, of a failed condition (409, 412), or of a missing item. The token of another
// response, such as 429, may name a state that no replica has reached yet, and reads with it would
// fail. The SDKs of the service keep the same ones (azure-cosmos-dotnet-v3 pull request 6081).
func hasUsableToken(response *http.Response) bool {
	switch status := response.StatusCode; status {
	case http.StatusConflict, http.StatusPreconditionFailed:
		return true
	case http.StatusNotFound:
		return substatusOf(response) != ReadSessionNotAvailable
	default:
		return status < http.StatusBadRequest
	}
}
