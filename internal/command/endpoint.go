package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"cosmosblog/internal/config"
	"cosmosblog/store"
)

// endpointOptions says how to reach an account: with its key or, where there is none, with what azidentity's default
// chain finds. Errors are sentences.
func endpointOptions(ctx context.Context, c config.Config) (store.Options, error) {
	options := store.Options{Endpoint: c.Endpoint, Key: c.Key, Database: c.Database, Transport: newNetTransport()}
	if c.Key != "" {
		return options, nil
	}
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err == nil {
		err = tryCredential(ctx, credential, c.Endpoint)
	}
	if err != nil {
		name := cmp.Or(c.KeyName, "COSMOS_KEY")
		return options, fmt.Errorf("%s is not set, and Entra ID signs nobody in here (%s): set %s, run az login, or give this machine an identity", name, firstLine(err), name)
	}
	options.Credential = credential
	return options, nil
}

// signInTimeout is how long the default chain may look for an identity. It asks the machine's own metadata too, which
// answers at once or not at all.
const signInTimeout = 20 * time.Second

// tryCredential gets the token that the account wants, so that a chain which leads nowhere is noticed in time.
func tryCredential(ctx context.Context, credential azcore.TokenCredential, endpoint string) error {
	account, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	scope := fmt.Sprintf("https://%s/.default", account.Hostname())
	_, err = credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
	return err
}

// endpointError says which account it is that cannot be used. The SDK's errors are pages long; their first line says
// what happened.
func endpointError(c config.Config, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*store.MissingError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*store.DifferenceError](err); ok {
		return fmt.Errorf("database %s at %s: %w", c.Database, c.Endpoint, err)
	}
	return fmt.Errorf("the account at %s cannot be used: %s", c.Endpoint, firstLine(err))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimRight(line, ". ")
}

// newNetTransport is net/http's, with room for many requests at once to the one host that there is.
func newNetTransport() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	transport.MaxIdleConns = maxIdleConnections
	transport.MaxIdleConnsPerHost = maxIdleConnections
	transport.ResponseHeaderTimeout = responseTimeout
	return &http.Client{Transport: transport}
}

// A script may run for 5 s, and a request is retried by those who sent it: longer waits are of no use.
const (
	dialTimeout     = 5 * time.Second
	responseTimeout = 20 * time.Second
)
