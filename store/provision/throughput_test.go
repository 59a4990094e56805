package provision_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

func TestParseThroughputsRejects(t *testing.T) {
	for text, want := range map[string]string{
		"400":                                     "is not a throughput",
		"fast:400":                                "is not a throughput",
		"serverless:400":                          "is not a throughput",
		"manual":                                  "from 400 to 1000000",
		"manual:399":                              "in steps of 100",
		"manual:450":                              "in steps of 100",
		"autoscale:400":                           "from 1000",
		"autoscale:1500":                          "in steps of 1000",
		"autoscale:2000000":                       "to 1000000",
		"autoscale:99999999999999999999":          "not a valid number of RU/s",
		"manual:400,autoscale:1000":               "names no container",
		"database=manual:400,manual:400":          "names no container",
		"manual:400,likes=manual:400":             `no container "likes"`,
		"posts=manual:400,posts=manual:500":       "the throughput of posts is given twice",
		"database=manual:400,database=manual:400": "the throughput of database is given twice",
		"manual:400,database=manual:400":          "write only one of the two",
		"database=":                               "is not a throughput",
		"database=serverless":                     "whole account",
		"serverless,database=manual:400":          "whole account",
		"serverless,posts=manual:400":             "whole account",
		"posts=serverless":                        "whole account",
	} {
		if _, err := provision.ParseThroughputs(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// provisionWith provisions with a throughput. It returns what was done, without the scripts.
func provisionWith(t *testing.T, options cosmos.Options, text string) ([]string, error) {
	t.Helper()
	throughputs, err := provision.ParseThroughputs(text)
	if err != nil {
		t.Fatal(err)
	}
	done, err := run(t, options, throughputs)
	return slices.DeleteFunc(done, func(sentence string) bool { return strings.Contains(sentence, "-") }), err
}

// Each throughput is provisioned twice: the second run has nothing to do. A third run with
// another number changes it. A run without a throughput changes nothing.
func TestProvisionChangesThroughput(t *testing.T) {
	for _, c := range []struct {
		first, second string
		made, changed []string
	}{
		{first: "manual:500", second: "manual:600",
			made:    []string{"created the container users (throughput: manual, 500 RU/s)", "created the container posts (throughput: manual, 500 RU/s)"},
			changed: []string{"changed the throughput of the container users from manual, 500 RU/s to manual, 600 RU/s"}},
		{first: "autoscale:1000,posts=autoscale:4000", second: "autoscale:1000,posts=autoscale:20000",
			made:    []string{"created the container posts (throughput: autoscale up to 4000 RU/s)"},
			changed: []string{"changed the throughput of the container posts from autoscale up to 4000 RU/s to autoscale up to 20000 RU/s"}},
		{first: "database=autoscale:1000,posts=manual:400", second: "database=autoscale:2000,posts=manual:400",
			made: []string{"created the database cosmosblog (throughput: autoscale up to 1000 RU/s)",
				"created the container users (throughput: shared, the database's)", "created the container posts (throughput: manual, 400 RU/s)"},
			changed: []string{"changed the throughput of the database cosmosblog from autoscale up to 1000 RU/s to autoscale up to 2000 RU/s"}},
	} {
		_, options := newEngine(t)
		made, err := provisionWith(t, options, c.first)
		if err != nil || !containsAll(made, c.made) {
			t.Errorf("%s: did %q, %v", c.first, made, err)
		}
		for _, again := range []string{c.first, ""} {
			if done, err := provisionWith(t, options, again); err != nil || len(done) != 0 {
				t.Errorf("%s, then %q: did %q, %v", c.first, again, done, err)
			}
		}
		changed, err := provisionWith(t, options, c.second)
		madeAny := slices.ContainsFunc(changed, func(s string) bool { return strings.HasPrefix(s, "made") })
		if err != nil || !containsAll(changed, c.changed) || madeAny {
			t.Errorf("%s: did %q, %v", c.second, changed, err)
		}
		if done, err := provisionWith(t, options, c.second); err != nil || len(done) != 0 {
			t.Errorf("%s again: did %q, %v", c.second, done, err)
		}
	}
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// Another kind of throughput changes the costs, and the migration takes time. Provisioning
// therefore never changes the kind.
func TestProvisionRejectsOtherKindOfThroughput(t *testing.T) {
	for _, c := range []struct {
		current, wanted string
		want            string
	}{
		{"manual:400", "autoscale:1000", "the throughput of the container users is manual, 400 RU/s and should be autoscale up to 1000 RU/s"},
		{"manual:400", "posts=autoscale:1000", "the throughput of the container posts is manual, 400 RU/s and should be autoscale"},
		{"database=manual:400", "manual:400", "the throughput of the database cosmosblog is manual, 400 RU/s and should be none"},
		{"manual:400", "database=manual:400", "the throughput of the database cosmosblog is none and should be manual, 400 RU/s"},
		{"manual:400", "serverless", "the capacity of the account is provisioned and should be serverless"},
	} {
		_, options := newEngine(t)
		if _, err := provisionWith(t, options, c.current); err != nil {
			t.Fatal(err)
		}
		options.Transport = readOnly(t, options.Transport)
		done, err := provisionWith(t, options, c.wanted)
		if done != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s after %s: did %q, %v", c.wanted, c.current, done, err)
		}
	}
}

// The response to a read of throughputs shows that an account is serverless. Nothing is created
// with a throughput on such an account.
func TestProvisionServerless(t *testing.T) {
	_, options := newEngine(t)
	next := options.Transport
	options.Transport = transportFunc(func(request *http.Request) (*http.Response, error) {
		if strings.HasPrefix(request.URL.Path, "/offers") {
			const body = `{"code":"BadRequest","message":"Reading or replacing offers is not supported for serverless accounts."}`
			return cosmostest.Respond(http.StatusBadRequest, body)(0, request, nil)
		}
		for name := range request.Header {
			if strings.Contains(strings.ToLower(name), "offer") {
				t.Errorf("%s %s was sent with the header %s", request.Method, request.URL.Path, name)
			}
		}
		return next.Do(request)
	})
	for _, text := range []string{"manual:400", "database=manual:400"} {
		done, err := provisionWith(t, options, text)
		if done != nil || err == nil || !strings.Contains(err.Error(), "is serverless and should be provisioned") {
			t.Errorf("%s: did %q, %v", text, done, err)
		}
	}
	done, err := provisionWith(t, options, "serverless")
	if err != nil || !slices.Contains(done, "created the container users (throughput: serverless)") {
		t.Errorf("serverless: did %q, %v", done, err)
	}
	if done, err := provisionWith(t, options, "serverless"); err != nil || len(done) != 0 {
		t.Errorf("serverless again: did %q, %v", done, err)
	}
}

// TestFreeTier provisions an account with the limit of the free tier. The advice of the failure is
// enough to provision it.
func TestFreeTier(t *testing.T) {
	for _, first := range []string{"", "manual:400", "autoscale:1000"} {
		engine := cosmostest.New(t, cosmostest.Options{ThroughputLimit: 1000})
		options := cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: engine.Key(), Transport: inprocess.To(engine)}
		_, err := provisionWith(t, options, first)
		for _, advice := range []string{"limit of 1000 RU/s", "--throughput database=autoscale:1000",
			"7 containers with a throughput of their own need at least 2800", "az cosmosdb sql database delete"} {
			if err == nil || !strings.Contains(err.Error(), advice) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: got %v, want one line with %q", first, err, advice)
			}
		}
		db, err := cosmos.New(options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		database, err := db.Client().NewDatabase(db.Name())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := database.Delete(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		options.Endpoint = inprocess.NewEndpoint() // azcosmos has cached the containers
		done, err := provisionWith(t, options, "database=autoscale:1000")
		if err != nil || !slices.Contains(done, "created the container deadletters (throughput: shared, the database's)") {
			t.Errorf("shared, after %q: did %q, %v", first, done, err)
		}
		if _, err := provisionWith(t, options, "database=autoscale:2000"); err == nil || !strings.Contains(err.Error(), "changing the throughput of the database") {
			t.Errorf("twice the limit: %v", err)
		}
	}
}
