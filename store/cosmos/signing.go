package cosmos

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// resource is the type and the link of a request's target, which the signature covers ("Access
// control on Azure Cosmos DB resources" in the REST reference).
type resource struct{ Kind, Link string }

// Headers of signed requests.
const (
	dateHeader          = "X-Ms-Date"
	authorizationHeader = "Authorization"
)

// authorization returns the policies that authorize requests by the account's key, or by an
// Entra ID token if there is no key. Error: the key or the endpoint is malformed.
func authorization(options Options) ([]policy.Policy, error) {
	if options.Key != "" {
		key, err := base64.StdEncoding.DecodeString(options.Key)
		if err != nil {
			return nil, fmt.Errorf("the account's key is not valid base64: %w", err)
		}
		return []policy.Policy{keyAuthorization{key}}, nil
	}
	endpoint, err := url.Parse(options.Endpoint)
	if err != nil {
		return nil, err
	}
	// azcore's policy caches the token and renews it in time. Like azcosmos, it accepts http
	// endpoints, for engines on the same machine.
	bearer := runtime.NewBearerTokenPolicy(options.Credential,
		[]string{endpoint.Scheme + "://" + endpoint.Hostname() + "/.default"},
		&policy.BearerTokenOptions{InsecureAllowCredentialWithHTTP: true})
	return []policy.Policy{bearer, tokenAuthorization{}}, nil
}

// keyAuthorization is a policy that signs requests with the account's master key.
type keyAuthorization struct{ key []byte }

// Do implements policy.Policy.
func (a keyAuthorization) Do(request *policy.Request) (*http.Response, error) {
	var r resource
	if !request.OperationValue(&r) {
		return nil, fmt.Errorf("the request to %s has no resource to sign", request.Raw().URL.Path)
	}
	date := dateNow()
	header := request.Raw().Header
	header.Set(dateHeader, date)
	header.Set(authorizationHeader, a.sign(request.Raw().Method, r, date))
	return request.Next()
}

// sign returns the value of the Authorization header. date is the value of the request's
// dateHeader.
func (a keyAuthorization) sign(method string, r resource, date string) string {
	mac := hmac.New(sha256.New, a.key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(method), r.Kind, r.Link, strings.ToLower(date))
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// tokenAuthorization rewrites a bearer token to the form that Cosmos DB requires.
type tokenAuthorization struct{}

func (tokenAuthorization) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	token := strings.TrimPrefix(header.Get(authorizationHeader), "Bearer ")
	header.Set(dateHeader, dateNow())
	header.Set(authorizationHeader, "type=aad&ver=1.0&sig="+token)
	return request.Next()
}

// dateNow returns the value of dateHeader. It uses the real time instead of Options.Now, because
// the account rejects a date that differs much from its own.
func dateNow() string { return time.Now().UTC().Format(http.TimeFormat) }
