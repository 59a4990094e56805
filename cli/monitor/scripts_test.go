package monitor

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// manage sends the engine a signed request for a stored procedure's definition, or for the list
// of them.
func (o *observed) manage(method, link string) (status int, body []byte) {
	o.Helper()
	answer, err := o.engine.Send(o.Context(), method, link, "")
	if err != nil {
		o.Fatal(err)
	}
	if body, err = io.ReadAll(answer.Body); err != nil {
		o.Fatal(err)
	}
	return answer.StatusCode, body
}

// dropScript deletes the stored procedure whose id has a prefix.
func (o *observed) dropScript(prefix string) {
	o.Helper()
	const sprocs = "dbs/" + cosmos.DefaultDatabase + "/colls/posts/sprocs"
	var list struct{ StoredProcedures []struct{ ID string } }
	if status, body := o.manage("GET", sprocs); json.Unmarshal(body, &list) != nil {
		o.Fatalf("%d %s", status, body)
	}
	for _, script := range list.StoredProcedures {
		if strings.HasPrefix(script.ID, prefix) {
			if status, body := o.manage("DELETE", sprocs+"/"+script.ID); status != http.StatusNoContent {
				o.Fatalf("%d %s", status, body)
			}
			return
		}
	}
	o.Fatalf("there is no %s among %v", prefix, list)
}

// A process that had all scripts stays ready if one is missing, because provision may be about to
// register it again, and reports it. Its own commands fail.
func TestMissingScriptIsReported(t *testing.T) {
	t.Parallel()
	o := observe(t, openBlog(t), nil)
	if status, answer := o.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
	o.dropScript("createLike-")
	o.pass(scriptsAge - time.Second) // too early for another lookup
	if status, answer := o.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
	o.pass(time.Second)
	if status, answer := o.readyz(); status != 200 || len(answer.Scripts.Missing) != 1 || !strings.HasPrefix(answer.Scripts.Missing[0], "createLike-") {
		t.Errorf("%d %+v", status, answer)
	}
	if log := o.log.String(); !strings.Contains(log, "createLike-") {
		t.Errorf("the log does not name the missing script: %s", log)
	}
}

// A process is not ready after leases was lost and created again without the number of the format.
// The log says why.
func TestProcessWithoutAFormatIsNotReady(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	o := observe(t, b, nil)
	o.createUser("Ada")
	_, err := b.store.DB.Container(schema.Leases).DeleteItem(t.Context(), azcosmos.NewPartitionKeyString("format"), "format", nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := o.readyz(); status != 503 || !slices.Equal(answer.Waiting, []string{"scripts"}) {
		t.Errorf("%d %+v", status, answer)
	}
	if log := o.log.String(); !strings.Contains(log, "does not store the number of its format") {
		t.Errorf("the log does not name the format: %s", log)
	}
}

// A missing script is looked up again after a second.
func TestScriptsThatReturn(t *testing.T) {
	t.Parallel()
	o := observe(t, openBlog(t), nil)
	o.dropScript("createLike-")
	if status, _ := o.readyz(); status != 503 {
		t.Errorf("without the script: %d", status)
	}
	provisioned, err := provision.OpenEmbedded(t.Context(), o.engine, cosmos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	provisioned.Close()
	o.pass(cachedAge)
	if status, answer := o.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
}
