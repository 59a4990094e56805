package provision_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/storetest"
)

func TestParseThroughputs(t *testing.T) {
	manual, autoscale := provision.Throughput{provision.Manual, 400}, provision.Throughput{provision.Autoscale, 4000}
	for _, c := range []struct {
		text   string
		shared bool
		want   provision.Throughputs
	}{
		{"", false, provision.Throughputs{}},
		{"serverless", false, provision.Throughputs{Each: provision.Throughput{Kind: provision.Serverless}}},
		{"manual:400", false, provision.Throughputs{Each: manual}},
		{"autoscale:4000", true, provision.Throughputs{Each: autoscale, Shared: true}},
		{"manual:400,posts=autoscale:4000", false, provision.Throughputs{Each: manual, Of: map[string]provision.Throughput{"posts": autoscale}}},
		{"posts=autoscale:4000,users=manual:400", false, provision.Throughputs{Of: map[string]provision.Throughput{"posts": autoscale, "users": manual}}},
	} {
		got, err := provision.ParseThroughputs(c.text, c.shared)
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%q, %t: got %+v, %v", c.text, c.shared, got, err)
		}
	}
}

func TestParseThroughputsRefuses(t *testing.T) {
	for _, c := range []struct {
		text   string
		shared bool
		says   string
	}{
		{"", true, "do the containers share"},
		{"400", false, "is no throughput"},
		{"fast:400", false, "is no throughput"},
		{"serverless:400", false, "is no throughput"},
		{"manual", false, "from 400 to 1000000"},
		{"manual:399", false, "in steps of 100"},
		{"manual:450", false, "in steps of 100"},
		{"autoscale:400", false, "from 1000"},
		{"autoscale:1500", false, "in steps of 1000"},
		{"autoscale:2000000", false, "to 1000000"},
		{"autoscale:99999999999999999999", false, "no number of RU/s"},
		{"manual:400,autoscale:1000", false, "does not say of which container"},
		{"manual:400,likes=manual:400", false, `no container "likes"`},
		{"posts=manual:400,posts=manual:500", false, "said twice"},
		{"serverless", true, "whole account"},
		{"serverless,posts=manual:400", false, "whole account"},
		{"posts=serverless", false, "whole account"},
		{"posts=manual:400", true, "do the other containers share"},
	} {
		if _, err := provision.ParseThroughputs(c.text, c.shared); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %t: got %v", c.text, c.shared, err)
		}
	}
}

// provisionWith provisions with a throughput and gives what was done, without the scripts.
func provisionWith(t *testing.T, options cosmos.Options, text string, sharing bool) ([]string, error) {
	t.Helper()
	throughputs, err := provision.ParseThroughputs(text, sharing)
	if err != nil {
		t.Fatal(err)
	}
	done, err := run(t, options, throughputs)
	return slices.DeleteFunc(done, func(what string) bool { return strings.Contains(what, "-") }), err
}

// Each of these is asked for twice, so that the second time shows what the first one made, and then in another number.
func TestProvisionThroughput(t *testing.T) {
	for _, c := range []struct {
		first, second string
		shared        bool
		made, changed []string
	}{
		{first: "manual:500", second: "manual:600",
			made:    []string{"made the container users (throughput: manual, 500 RU/s)", "made the container posts (throughput: manual, 500 RU/s)"},
			changed: []string{"changed the throughput of the container users from manual, 500 RU/s to manual, 600 RU/s"}},
		{first: "autoscale:1000,posts=autoscale:4000", second: "autoscale:1000,posts=autoscale:20000",
			made:    []string{"made the container posts (throughput: autoscale up to 4000 RU/s)"},
			changed: []string{"changed the throughput of the container posts from autoscale up to 4000 RU/s to autoscale up to 20000 RU/s"}},
		{first: "autoscale:1000,posts=manual:400", second: "autoscale:2000,posts=manual:400", shared: true,
			made: []string{"made the database cosmosblog (throughput: autoscale up to 1000 RU/s)",
				"made the container users (throughput: shared, the database's)", "made the container posts (throughput: manual, 400 RU/s)"},
			changed: []string{"changed the throughput of the database cosmosblog from autoscale up to 1000 RU/s to autoscale up to 2000 RU/s"}},
	} {
		_, options := newEngine(t)
		made, err := provisionWith(t, options, c.first, c.shared)
		if err != nil || !containsAll(made, c.made) {
			t.Errorf("%s: did %q, %v", c.first, made, err)
		}
		for _, again := range []string{c.first, ""} {
			if done, err := provisionWith(t, options, again, c.shared && again != ""); err != nil || len(done) != 0 {
				t.Errorf("%s, then %q: did %q, %v", c.first, again, done, err)
			}
		}
		changed, err := provisionWith(t, options, c.second, c.shared)
		if err != nil || !containsAll(changed, c.changed) || slices.ContainsFunc(changed, func(what string) bool { return strings.HasPrefix(what, "made") }) {
			t.Errorf("%s: did %q, %v", c.second, changed, err)
		}
		if done, err := provisionWith(t, options, c.second, c.shared); err != nil || len(done) != 0 {
			t.Errorf("%s again: did %q, %v", c.second, done, err)
		}
	}
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// Another kind of throughput is a question of money and of time: nobody is taken by surprise.
func TestProvisionRefusesAnotherKindOfThroughput(t *testing.T) {
	for _, c := range []struct {
		there, wanted             string
		thereShared, wantedShared bool
		says                      string
	}{
		{"manual:400", "autoscale:1000", false, false, "the throughput of the container users is manual, 400 RU/s and should be autoscale up to 1000 RU/s"},
		{"manual:400", "posts=autoscale:1000", false, false, "the throughput of the container posts is manual, 400 RU/s and should be autoscale"},
		{"manual:400", "manual:400", true, false, "the throughput of the database cosmosblog is manual, 400 RU/s and should be none of its own"},
		{"manual:400", "manual:400", false, true, "the throughput of the database cosmosblog is none of its own and should be manual, 400 RU/s"},
		{"manual:400", "serverless", false, false, "the capacity of the account is provisioned and should be serverless"},
	} {
		_, options := newEngine(t)
		if _, err := provisionWith(t, options, c.there, c.thereShared); err != nil {
			t.Fatal(err)
		}
		options.Transport = readOnly(t, options.Transport)
		if done, err := provisionWith(t, options, c.wanted, c.wantedShared); done != nil || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s after %s: did %q, %v", c.wanted, c.there, done, err)
		}
	}
}

// A serverless account is told from its answer to a question about throughputs; it gets no throughput with a creation.
func TestProvisionServerless(t *testing.T) {
	_, options := newEngine(t)
	next := options.Transport
	options.Transport = transportFunc(func(request *http.Request) (*http.Response, error) {
		if strings.HasPrefix(request.URL.Path, "/offers") {
			const body = `{"code":"BadRequest","message":"Reading or replacing offers is not supported for serverless accounts."}`
			return storetest.Answer(request, http.StatusBadRequest, body), nil
		}
		for name := range request.Header {
			if strings.Contains(strings.ToLower(name), "offer") {
				t.Errorf("%s %s with %s", request.Method, request.URL.Path, name)
			}
		}
		return next.Do(request)
	})
	if done, err := provisionWith(t, options, "manual:400", false); done != nil || err == nil || !strings.Contains(err.Error(), "is serverless and should be provisioned") {
		t.Errorf("manual: did %q, %v", done, err)
	}
	done, err := provisionWith(t, options, "serverless", false)
	if err != nil || !slices.Contains(done, "made the container users (throughput: serverless)") {
		t.Errorf("did %q, %v", done, err)
	}
	if done, err := provisionWith(t, options, "serverless", false); err != nil || len(done) != 0 {
		t.Errorf("again: did %q, %v", done, err)
	}
}
