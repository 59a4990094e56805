package provision_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
)

func newEngine(t *testing.T) (*embedded.Engine, cosmos.Options) {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine, cosmos.Options{Endpoint: provision.LocalEndpoint(), Key: engine.Key(), Transport: cosmos.InProcess(engine)}
}

// Open says what is missing; Provision makes all of it once; then Open opens.
func TestProvision(t *testing.T) {
	_, options := newEngine(t)
	_, err := store.Open(t.Context(), options)
	missing, ok := errors.AsType[*schema.MissingError](err)
	if !ok || len(missing.Containers) != len(schema.Containers) || len(missing.Scripts) != len(schema.Scripts) {
		t.Fatalf("on an empty account Open says %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "users") || !strings.Contains(text, "truncateFeed-") || !strings.Contains(text, "provision") {
		t.Errorf("the error says %q", text)
	}

	done, err := provision.Provision(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1+len(schema.Containers)+len(schema.Scripts) || done[0] != "made the database cosmosblog" || done[1] != "made the container users" {
		t.Errorf("it did %q", done)
	}
	done, err = provision.Provision(t.Context(), options)
	if err != nil || done != nil {
		t.Errorf("again, it did %q, %v", done, err)
	}

	options.Endpoint = provision.LocalEndpoint() // azcosmos remembers that the containers were missing
	s, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// What is missing is made, whatever it is, and nothing else; what was done is told, also where the rest failed.
func TestProvisionMakesWhatIsMissing(t *testing.T) {
	_, options := newEngine(t)
	next := options.Transport
	options.Transport = transportFunc(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/feed/triggers") {
			return storetest.Refusal(request, http.StatusServiceUnavailable), nil
		}
		return next.Do(request)
	})
	done, err := provision.Provision(t.Context(), options)
	if len(done) != len(schema.Containers)+len(schema.Scripts) || err == nil || !strings.HasPrefix(err.Error(), "making the trigger truncateFeed-") {
		t.Errorf("it did %q, %v", done, err)
	}
	options.Transport = next
	for _, gone := range []struct {
		container string
		made      []string
	}{
		{"", []string{"made the " + schema.TruncateFeed.Label()}},
		{schema.Feed, []string{"made the container feed", "made the " + schema.TruncateFeed.Label()}},
		{schema.Leases, []string{"made the container leases"}},
	} {
		if gone.container != "" {
			deleteContainer(t, options, gone.container)
		}
		done, err := provision.Provision(t.Context(), options)
		if err != nil || !slices.Equal(done, gone.made) {
			t.Errorf("without %q, it did %q, %v", gone.container, done, err)
		}
	}
}

func deleteContainer(t *testing.T, options cosmos.Options, name string) {
	t.Helper()
	client, err := cosmos.NewClient(options.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := client.NewContainer(cosmos.DefaultDatabase, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// After Open, the first requests are the operations' own.
func TestOpenReadsMetadata(t *testing.T) {
	w := newWorld(t)
	metadata := 0
	counting := transportFunc(func(request *http.Request) (*http.Response, error) {
		if _, ok := cosmos.TargetOf(request); !ok {
			metadata++
		}
		return cosmos.InProcess(w.Engine).Do(request)
	})
	s, err := provision.OpenEmbedded(t.Context(), w.Engine, cosmos.Options{Transport: counting})
	w.OK(err)
	defer s.Close()
	metadata = 0
	_, err = s.Posts(t.Context(), []string{"p_1", "p_2"})
	w.OK(err)
	_, err = s.CreateUser(t.Context(), storetest.Account("ada"), "Ada")
	w.OK(err)
	if metadata != 0 {
		t.Errorf("%d reads of metadata were sent by operations", metadata)
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) Do(request *http.Request) (*http.Response, error) { return f(request) }

// A wrong key is told as such, in one line.
func TestWrongKey(t *testing.T) {
	_, options := newEngine(t)
	options.Key = "d3Jvbmc="
	_, err := store.Open(t.Context(), options)
	if err == nil || !strings.Contains(err.Error(), "refused the key") || strings.Contains(err.Error(), "\n") {
		t.Errorf("with a wrong key Open says %v", err)
	}
	options.Key = "not base64!"
	if _, err := store.Open(t.Context(), options); err == nil {
		t.Error("a key that is no key is taken")
	}
}

// With Entra ID, every request bears the token, and management being forbidden does not keep the store from opening, but
// keeps Provision from anything.
func TestEntra(t *testing.T) {
	w := newWorldWith(t, embedded.Options{Entra: true})
	var last http.Header
	options := cosmos.Options{
		Endpoint:   provision.LocalEndpoint(),
		Credential: fixedToken{},
		Transport: transportFunc(func(request *http.Request) (*http.Response, error) {
			last = request.Header.Clone()
			return cosmos.InProcess(w.Engine).Do(request)
		}),
	}
	s, err := store.Open(t.Context(), options)
	w.OK(err)
	defer s.Close()
	const want = "type=aad&ver=1.0&sig=a.b.c"
	if got := last.Get(cosmos.AuthorizationHeader); got != want {
		t.Errorf("the trigger was asked for with %q", got)
	}
	_, _ = s.UnlikePost(t.Context(), "u_1", "p_1")
	if got := last.Get(cosmos.AuthorizationHeader); got != want {
		t.Errorf("a procedure was executed with %q", got)
	}
	for _, throughput := range []provision.Throughputs{{}, {Each: provision.Throughput{provision.Manual, 400}}} {
		options.Endpoint, options.Throughput = provision.LocalEndpoint(), throughput
		done, err := provision.Provision(t.Context(), options)
		if done != nil || err == nil || !strings.Contains(err.Error(), "403/5300") || !strings.Contains(err.Error(), "--print bicep") {
			t.Errorf("Provision did %q and says %v", done, err)
		}
	}
}

// sign signs a request with the engine's key, by the link that its path is.
func (w *world) sign(request *http.Request) {
	part := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	r := cosmos.Resource{Kind: part[len(part)-1], Link: strings.Join(part[:len(part)-1], "/")}
	if len(part)%2 == 0 {
		r = cosmos.Resource{Kind: part[len(part)-2], Link: strings.Join(part, "/")}
	}
	key, err := base64.StdEncoding.DecodeString(w.Engine.Key())
	w.OK(err)
	request.Header.Set(cosmos.AuthorizationHeader, cosmos.KeyAuthorization{key}.Sign(request.Method, r, request.Header.Get(cosmos.DateHeader)))
}

type fixedToken struct{}

func (fixedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "a.b.c", ExpiresOn: time.Now().Add(time.Hour)}, nil
}
