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

// Resource is what a request's signature is over: the type and the link of what it addresses ("Access control on Azure
// Cosmos DB resources" of the REST reference).
type Resource struct{ Kind, Link string }

const (
	DateHeader          = "X-Ms-Date"
	AuthorizationHeader = "Authorization"
)

// authorization gives the policies that authorize requests by the account's key, or by an Entra ID token.
func authorization(options Options) ([]policy.Policy, error) {
	if options.Key != "" {
		key, err := base64.StdEncoding.DecodeString(options.Key)
		if err != nil {
			return nil, fmt.Errorf("the account's key is not base64: %w", err)
		}
		return []policy.Policy{KeyAuthorization{key}}, nil
	}
	endpoint, err := url.Parse(options.Endpoint)
	if err != nil {
		return nil, err
	}
	// azcore's policy gets the token, keeps it and renews it in time. That an endpoint may be http is for engines on the
	// same machine, and what azcosmos allows too.
	bearer := runtime.NewBearerTokenPolicy(options.Credential,
		[]string{endpoint.Scheme + "://" + endpoint.Hostname() + "/.default"},
		&policy.BearerTokenOptions{InsecureAllowCredentialWithHTTP: true})
	return []policy.Policy{bearer, tokenAuthorization{}}, nil
}

// KeyAuthorization signs requests with the account's master key.
type KeyAuthorization struct{ key []byte }

func (a KeyAuthorization) Do(request *policy.Request) (*http.Response, error) {
	var r Resource
	if !request.OperationValue(&r) {
		return nil, fmt.Errorf("the request to %s does not say what it addresses", request.Raw().URL.Path)
	}
	date := DateNow()
	header := request.Raw().Header
	header.Set(DateHeader, date)
	header.Set(AuthorizationHeader, a.Sign(request.Raw().Method, r, date))
	return request.Next()
}

func (a KeyAuthorization) Sign(method string, r Resource, date string) string {
	mac := hmac.New(sha256.New, a.key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(method), r.Kind, r.Link, strings.ToLower(date))
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// tokenAuthorization writes a bearer token as Cosmos DB wants it.
type tokenAuthorization struct{}

func (tokenAuthorization) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	token := strings.TrimPrefix(header.Get(AuthorizationHeader), "Bearer ")
	header.Set(DateHeader, DateNow())
	header.Set(AuthorizationHeader, "type=aad&ver=1.0&sig="+token)
	return request.Next()
}

// DateNow is the real time, whatever Options.Now says: the account refuses a date that is far from its own.
func DateNow() string { return time.Now().UTC().Format(http.TimeFormat) }
