package provision_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

const formatID = "format"

// isFormatItem reports whether a request names the item of the format.
func isFormatItem(request *http.Request) bool {
	return strings.HasSuffix(request.URL.Path, "/colls/leases/docs/"+formatID)
}

// formatIn returns the number in a database; 0 if there is none.
func formatIn(t *testing.T, db *cosmos.DB) int {
	t.Helper()
	item, _, err := cosmos.Read[struct{ Number int }](t.Context(), db.Container(schema.Leases), formatID, formatID)
	if cosmos.IsNotFound(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return item.Number
}

// setFormat sets the number in a database. With 0, it deletes the item.
func setFormat(t *testing.T, db *cosmos.DB, number int) {
	t.Helper()
	leases, partition := db.Container(schema.Leases), azcosmos.NewPartitionKeyString(formatID)
	var err error
	if number == 0 {
		_, err = leases.DeleteItem(t.Context(), partition, formatID, nil)
	} else {
		var changes azcosmos.PatchOperations
		changes.AppendSet("/number", number)
		_, err = leases.PatchItem(t.Context(), partition, formatID, changes, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// createFormat creates the item of the format.
func createFormat(t *testing.T, db *cosmos.DB, number int) error {
	item := map[string]any{"id": formatID, "type": formatID, "number": number}
	_, err := cosmos.Create(t.Context(), db.Container(schema.Leases), formatID, item)
	return err
}

// wantRefused checks that err is a *schema.FormatError with the number found, and one sentence.
func wantRefused(t *testing.T, what string, err error, found int) {
	t.Helper()
	refused, ok := errors.AsType[*schema.FormatError](err)
	if !ok || refused.Found != found || refused.Database != cosmos.DefaultDatabase {
		t.Errorf("%s: %v, want the error of the format %d", what, err, found)
	}
	if ok && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "use ")) {
		t.Errorf("%s: %q is not a sentence with advice", what, err)
	}
}

// The first check of a new database stores the number, after the containers and scripts exist.
// Provisioning does not store it, nor does opening a database as a source.
func TestNewDatabaseGetsFormat(t *testing.T) {
	engine, options := newEngine(t)
	if _, err := run(t, options, provision.Throughputs{}); err != nil {
		t.Fatal(err)
	}
	source, err := provision.OpenEmbeddedSource(t.Context(), engine, cosmos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(source.Close)
	if n := formatIn(t, source); n != 0 {
		t.Errorf("a source and provision store the number %d", n)
	}
	for range 2 {
		db, err := open(t, options)
		if err != nil || formatIn(t, db) != schema.Format {
			t.Errorf("the format is %d, %v", formatIn(t, db), err)
		}
	}
}

// A source may have other indexes and no scripts, and gets no requests that could change it.
func TestSourceIsOnlyRead(t *testing.T) {
	engine, options := newEngine(t)
	definitions := slices.Clone(schema.Containers)
	posts := definitions[1].Properties()
	posts.IndexingPolicy = nil
	createContainer(t, options, posts)
	database, err := newClient(t, options).Client().NewDatabase(cosmos.DefaultDatabase)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range slices.Delete(definitions, 1, 2) {
		if _, err := database.CreateContainer(t.Context(), d.Properties(), nil); err != nil {
			t.Fatal(err)
		}
	}
	source, err := provision.OpenEmbeddedSource(t.Context(), engine, cosmos.Options{Transport: readOnly(t, options.Transport)})
	if err != nil {
		t.Fatal(err)
	}
	source.Close()
	deleteContainer(t, options, schema.Usernames)
	_, err = provision.OpenEmbeddedSource(t.Context(), engine, cosmos.Options{})
	if missing, ok := errors.AsType[*schema.MissingError](err); !ok || !slices.Equal(missing.Containers, []string{schema.Usernames}) {
		t.Errorf("a source without usernames: %v", err)
	}
}

// newClient returns a client, which sends nothing at first.
func newClient(t *testing.T, options cosmos.Options) *cosmos.DB {
	t.Helper()
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// A database with another number, or with data and no number, is refused by everything that opens
// or provisions it, before anything is written.
func TestAnotherFormatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		number int
		addTo  func(w *world)
	}{
		"an older number, empty":    {schema.Format - 1, func(*world) {}},
		"a newer number, with data": {schema.Format + 1, func(w *world) { w.AddPost(w.AddUser("ada")) }},
		"no number, with a user":    {0, func(w *world) { w.AddUser("ada") }},
		"no number, with an item of posts": {0, func(w *world) {
			w.Plant(w.Container(schema.Posts), "p_1", map[string]any{"id": "p_1", "postId": "p_1"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.addTo(w)
			setFormat(t, w.DB, c.number)
			deleteContainer(t, w.options(), schema.DeadLetters) // so that provision has something to create
			done, err := run(t, w.options(), provision.Throughputs{})
			wantRefused(t, "provision", err, c.number)
			if done != nil {
				t.Errorf("provision did %q before", done)
			}
			_, err = provision.OpenEmbedded(t.Context(), w.Account, cosmos.Options{})
			wantRefused(t, "a folder", err, c.number)
			wantRefused(t, "an account", checkComplete(t, w, check), c.number)
			wantRefused(t, "a source", checkComplete(t, w, schema.CheckSource), c.number)
			if n := formatIn(t, w.DB); n != c.number {
				t.Errorf("the number is now %d", n)
			}
		})
	}
}

// check is schema.Check for a database whose scripts are not blocked.
func check(ctx context.Context, db *cosmos.DB) error {
	_, err := schema.Check(ctx, db)
	return err
}

// checkComplete creates the container deadletters if it is missing, and checks the database through
// a new client.
func checkComplete(t *testing.T, w *world, check func(context.Context, *cosmos.DB) error) error {
	t.Helper()
	for _, d := range schema.Containers {
		database, err := w.DB.Client().NewDatabase(w.DB.Name())
		w.OK(err)
		_, err = database.CreateContainer(t.Context(), d.Properties(), nil)
		_, err = cosmos.CreatedFromError(err)
		w.OK(err)
	}
	return check(t.Context(), newClient(t, w.options()))
}

// options returns the options of a new client of the world's engine.
func (w *world) options() cosmos.Options {
	return cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: w.Account.Key(), Transport: inprocess.To(w.Account)}
}

// An operator who lost leases gets on by provisioning it and creating the item by hand.
func TestLostLeases(t *testing.T) {
	w := newWorld(t)
	w.AddPost(w.AddUser("ada"))
	deleteContainer(t, w.options(), schema.Leases)
	done, err := run(t, w.options(), provision.Throughputs{})
	if err != nil || len(done) != 1 {
		t.Errorf("provision did %q, %v", done, err)
	}
	db, err := open(t, w.options())
	wantRefused(t, "without the item", err, 0)
	if !strings.Contains(err.Error(), "docs/operations.md") {
		t.Errorf("%q names no document", err)
	}
	w.OK(createFormat(t, db, schema.Format))
	if _, err = open(t, w.options()); err != nil {
		t.Errorf("with the item: %v", err)
	}
}

// checkers is the number of concurrent checks in TestConcurrentChecks.
const checkers = 4

// Checks that all find an empty database at the same time agree, whoever creates the item. If the
// winner is of another format, the losers are refused.
func TestConcurrentChecks(t *testing.T) {
	for name, other := range map[string]int{"equal programs": 0, "another program wins": schema.Format + 1} {
		t.Run(name, func(t *testing.T) {
			_, options := newEngine(t)
			if _, err := run(t, options, provision.Throughputs{}); err != nil {
				t.Fatal(err)
			}
			direct := newClient(t, options)
			var waiting sync.WaitGroup // checks that have found nothing
			waiting.Add(checkers)
			createOther := sync.OnceFunc(func() {
				if other > 0 {
					if err := createFormat(t, direct, other); err != nil {
						t.Error(err)
					}
				}
			})
			errs := make([]error, checkers)
			var checked sync.WaitGroup
			for i := range checkers {
				db := openBehind(t, options, func(next policy.Transporter, request *http.Request) (*http.Response, error) {
					if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/colls/leases/docs") {
						waiting.Done()
						waiting.Wait()
						createOther()
					}
					return next.Do(request)
				})
				checked.Go(func() { errs[i] = check(t.Context(), db) })
			}
			checked.Wait()
			for _, err := range errs {
				if other == 0 && err != nil {
					t.Error(err)
				}
				if other > 0 {
					wantRefused(t, "the loser", err, other)
				}
			}
		})
	}
}

// openBehind returns a client whose requests pass do. It sends nothing.
func openBehind(
	t *testing.T, options cosmos.Options, do func(next policy.Transporter, request *http.Request) (*http.Response, error),
) *cosmos.DB {
	t.Helper()
	next := options.Transport
	options.Endpoint = inprocess.NewEndpoint()
	options.Transport = transportFunc(func(request *http.Request) (*http.Response, error) { return do(next, request) })
	return newClient(t, options)
}

// A replica of leases that lacks the item does not mislead a check, whether or not the replica of
// the data is behind too.
func TestFormatOnALaggingReplica(t *testing.T) {
	for name, isDataBehind := range map[string]bool{"all containers": true, "leases only": false} {
		t.Run(name, func(t *testing.T) {
			account := cosmostest.New(t, cosmostest.Options{Follower: true})
			options := cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: account.Key(), Transport: account}
			if _, err := run(t, options, provision.Throughputs{}); err != nil {
				t.Fatal(err)
			}
			account.Follower.Hold()
			db, err := open(t, options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := storetest.Open(db).CreateUser(t.Context(), storetest.Account("ada"), "Ada"); err != nil {
				t.Fatal(err)
			}
			absent := 0
			behind := openBehind(t, options, func(next policy.Transporter, request *http.Request) (*http.Response, error) {
				if !isDataBehind && !strings.Contains(request.URL.Path, "/colls/leases/") {
					next = account.Latest()
				}
				response, err := next.Do(request)
				if err == nil && response.StatusCode == http.StatusNotFound && request.Method == http.MethodGet && isFormatItem(request) {
					absent++
				}
				return response, err
			})
			if err := check(t.Context(), behind); err != nil || absent != 1 {
				t.Errorf("after %d reads that found nothing: %v", absent, err)
			}
		})
	}
}
