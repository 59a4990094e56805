package cosmos

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// Headers of signed requests.
const (
	dateHeader          = "X-Ms-Date"
	authorizationHeader = "Authorization"
)

// tokenPolicies returns the policies that authorize restClient's requests by an Entra ID token.
// There are none if the account has a key. Error: the endpoint is malformed.
func tokenPolicies(options Options) ([]policy.Policy, error) {
	if options.Key != "" {
		return nil, nil
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

// accountKey is the account's master key, which can be replaced while requests are sent.
type accountKey struct {
	read    func() (string, error) // Options.ReadKey
	reading sync.Mutex
	current atomic.Pointer[signingKey]
}

// signingKey is a decoded master key.
type signingKey struct {
	bytes   []byte
	isFirst bool // azcosmos signs with it
}

// newAccountKey returns the key of the options. Error: it is malformed.
func newAccountKey(options Options) (*accountKey, error) {
	bytes, err := base64.StdEncoding.DecodeString(options.Key)
	if err != nil {
		return nil, fmt.Errorf("the account's key is not valid base64: %w", err)
	}
	key := &accountKey{read: options.ReadKey}
	key.current.Store(&signingKey{bytes, true})
	return key, nil
}

// renew reads the key again, after the account rejected one. It returns the new key, or nil if
// there is none.
func (k *accountKey) renew(rejected *signingKey) *signingKey {
	if k.read == nil {
		return nil
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	if current := k.current.Load(); current != rejected { // another request renewed it
		return current
	}
	text, err := k.read()
	if err != nil {
		return nil
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(decoded) == 0 || bytes.Equal(decoded, rejected.bytes) {
		return nil
	}
	renewed := &signingKey{bytes: decoded}
	k.current.Store(renewed)
	return renewed
}

// keyPolicy signs requests with the account's key: those of restClient, and those of azcosmos after
// the key was replaced, because azcosmos keeps a copy of its first key (1.5.0: NewClientWithKey
// copies the KeyCredential, so KeyCredential.Update does not reach the client). If the account
// rejects a key, keyPolicy reads it again, and sends the request once more with the new one.
// Nothing was executed, so that is safe.
type keyPolicy struct{ key *accountKey }

// Do implements policy.Policy.
func (p keyPolicy) Do(request *policy.Request) (*http.Response, error) {
	key := p.key.current.Load()
	if !key.isFirst || request.Raw().Header.Get(authorizationHeader) == "" {
		key.sign(request.Raw())
	}
	response, err := request.Next()
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	renewed := p.key.renew(key)
	if renewed == nil {
		return response, nil
	}
	runtime.Drain(response)
	if err := request.RewindBody(); err != nil {
		return nil, err
	}
	renewed.sign(request.Raw())
	return request.Next()
}

// sign sets the headers that authorize a request.
func (k *signingKey) sign(request *http.Request) {
	date := dateNow()
	kind, link := signedResource(request.URL.Path)
	mac := hmac.New(sha256.New, k.bytes)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(request.Method), kind, link, strings.ToLower(date))
	request.Header.Set(dateHeader, date)
	request.Header.Set(authorizationHeader,
		url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

// signedResource returns the type and the link of a request's target, which the signature covers
// (learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources). The link of a
// collection of resources, such as the items of a container, is that of its owner. An offer is
// named by its resource id, in lower case.
func signedResource(path string) (kind, link string) {
	path = strings.Trim(path, "/")
	parts := strings.Split(path, "/")
	switch n := len(parts); {
	case path == "":
		return "", ""
	case n%2 == 1:
		return parts[n-1], strings.Join(parts[:n-1], "/")
	case parts[0] == "offers":
		return "offers", strings.ToLower(parts[1])
	default:
		return parts[n-2], path
	}
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
