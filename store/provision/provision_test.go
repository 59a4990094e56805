package provision_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// open opens a database as a server does.
func open(t *testing.T, options cosmos.Options) (*cosmos.DB, error) {
	db, err := cosmos.New(options)
	if err != nil {
		return nil, err
	}
	t.Cleanup(db.Close)
	_, err = schema.Check(t.Context(), db)
	return db, err
}

// run provisions a database through its own client.
func run(t *testing.T, options cosmos.Options, throughputs provision.Throughputs) ([]string, error) {
	db, err := cosmos.New(options)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return provision.Run(t.Context(), db, provision.Options{Throughputs: throughputs})
}

func newEngine(t *testing.T) (*cosmostest.Account, cosmos.Options) {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	return engine, cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: engine.Key(), Transport: inprocess.To(engine)}
}

// A server reports what is missing in an empty account. One provisioning creates everything, a
// second one nothing, and a server then opens the database.
func TestProvision(t *testing.T) {
	_, options := newEngine(t)
	_, err := open(t, options)
	missing, ok := errors.AsType[*schema.MissingError](err)
	if !ok || len(missing.Containers) != len(schema.Containers) || len(missing.Scripts) != len(schema.Scripts) {
		t.Fatalf("opening an empty account: %v", err)
	}
	for _, want := range []string{"users", "truncateFeed-", "provision"} {
		if text := err.Error(); !strings.Contains(text, want) {
			t.Errorf("the error is %q, without %q", text, want)
		}
	}

	done, err := run(t, options, provision.Throughputs{})
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1+len(schema.Containers)+len(schema.Scripts) ||
		done[0] != "created the database cosmosblog" || done[1] != "created the container users" {
		t.Errorf("the first run did %q", done)
	}
	done, err = run(t, options, provision.Throughputs{})
	if err != nil || done != nil {
		t.Errorf("the second run did %q, %v", done, err)
	}

	options.Endpoint = inprocess.NewEndpoint() // azcosmos has cached that the containers are missing
	if _, err := open(t, options); err != nil {
		t.Fatal(err)
	}
}

// Provisioning creates exactly what is missing. If it fails, it still returns what it did
// before.
func TestProvisionCreatesMissingResources(t *testing.T) {
	_, options := newEngine(t)
	next := options.Transport
	options.Transport = transportFunc(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/feed/triggers") {
			return cosmostest.Refuse(http.StatusServiceUnavailable)(0, request, nil)
		}
		return next.Do(request)
	})
	done, err := run(t, options, provision.Throughputs{})
	if len(done) != len(schema.Containers)+len(schema.Scripts) ||
		err == nil || !strings.HasPrefix(err.Error(), "creating the trigger truncateFeed-") {
		t.Errorf("the failed run did %q, %v", done, err)
	}
	options.Transport = next
	for _, c := range []struct {
		container string
		made      []string
	}{
		{"", []string{"created the " + schema.TruncateFeed.Label()}},
		{schema.Feed, []string{"created the container feed", "created the " + schema.TruncateFeed.Label()}},
		{schema.Leases, []string{"created the container leases"}},
	} {
		if c.container != "" {
			deleteContainer(t, options, c.container)
		}
		done, err := run(t, options, provision.Throughputs{})
		if err != nil || !slices.Equal(done, c.made) {
			t.Errorf("without %q, the run did %q, %v", c.container, done, err)
		}
	}
}

func deleteContainer(t *testing.T, options cosmos.Options, name string) {
	t.Helper()
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Container(name).Delete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// OpenEmbedded reads all metadata, so that the first operations send only their own requests.
func TestOpenEmbeddedReadsMetadata(t *testing.T) {
	w := newWorld(t)
	metadata := 0
	counting := transportFunc(func(request *http.Request) (*http.Response, error) {
		if _, ok := cosmos.TargetOf(request); !ok {
			metadata++
		}
		return inprocess.To(w.Account).Do(request)
	})
	db, err := provision.OpenEmbedded(t.Context(), w.Account, cosmos.Options{Transport: counting})
	w.OK(err)
	defer db.Close()
	s := store.New(db)
	metadata = 0
	_, err = s.Posts(t.Context(), []string{"p_1", "p_2"})
	w.OK(err)
	_, err = s.CreateUser(t.Context(), storetest.Account("ada"), "Ada")
	w.OK(err)
	if metadata != 0 {
		t.Errorf("the operations sent %d reads of metadata", metadata)
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) Do(request *http.Request) (*http.Response, error) { return f(request) }

// The error for a wrong key is one line that names the key.
func TestWrongKey(t *testing.T) {
	_, options := newEngine(t)
	options.Key = "d3Jvbmc="
	_, err := open(t, options)
	if err == nil || !strings.Contains(err.Error(), "rejected the key") || strings.Contains(err.Error(), "\n") {
		t.Errorf("opening with a wrong key: %v", err)
	}
	options.Key = "not base64!"
	if _, err := open(t, options); err == nil {
		t.Error("a malformed key was accepted")
	}
}

// With Entra ID, every request carries the token. The account forbids management operations: a
// server can still open the database, but provisioning fails.
func TestEntra(t *testing.T) {
	w := newWorldWith(t, cosmostest.Options{Entra: true})
	var last http.Header
	options := cosmos.Options{
		Endpoint:   inprocess.NewEndpoint(),
		Credential: fixedToken{},
		Transport: transportFunc(func(request *http.Request) (*http.Response, error) {
			last = request.Header.Clone()
			return inprocess.To(w.Account).Do(request)
		}),
	}
	db, err := open(t, options)
	w.OK(err)
	s := store.New(db)
	const want = "type=aad&ver=1.0&sig=a.b.c"
	if got := last.Get("Authorization"); got != want {
		t.Errorf("the trigger was read with %q", got)
	}
	_, _ = s.UpdateComment(t.Context(), "u_1", blog.UpdateCommentInput{ID: blog.Ref{Type: blog.TypeComment, PartitionKey: "p_1", ID: "c_1"}, Content: "Edited."})
	if got := last.Get("Authorization"); got != want {
		t.Errorf("a procedure was executed with %q", got)
	}
	manual, err := provision.ParseThroughputs("manual:400")
	w.OK(err)
	for _, throughput := range []provision.Throughputs{{}, manual} {
		options.Endpoint = inprocess.NewEndpoint()
		done, err := run(t, options, throughput)
		if done != nil || err == nil ||
			!strings.Contains(err.Error(), "403/5300") || !strings.Contains(err.Error(), "--print bicep") {
			t.Errorf("the run did %q, %v", done, err)
		}
	}
}

// TestMissingWithEntra opens an account without containers by a token, with which provision cannot
// create them (TestEntra).
func TestMissingWithEntra(t *testing.T) {
	account := cosmostest.New(t, cosmostest.Options{Entra: true})
	_, err := open(t, cosmos.Options{Endpoint: inprocess.NewEndpoint(), Credential: fixedToken{}, Transport: inprocess.To(account)})
	if _, ok := errors.AsType[*schema.MissingError](err); !ok || !strings.Contains(err.Error(), "deploy the template of provision --print bicep") {
		t.Errorf("the error is %v", err)
	}
}

type fixedToken struct{}

func (fixedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "a.b.c", ExpiresOn: time.Now().Add(time.Hour)}, nil
}
