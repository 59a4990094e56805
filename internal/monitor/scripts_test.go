package monitor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
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
func (o *observed) manage(method, link string) *httptest.ResponseRecorder {
	o.Helper()
	key, err := base64.StdEncoding.DecodeString(o.engine.Key())
	if err != nil {
		o.Fatal(err)
	}
	signed, date := link, time.Now().UTC().Format(http.TimeFormat)
	if method == http.MethodGet {
		signed = strings.TrimSuffix(link, "/sprocs")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(method) + "\nsprocs\n" + signed + "\n" + strings.ToLower(date) + "\n\n"))
	request := httptest.NewRequest(method, "/"+link, nil)
	signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	request.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+signature))
	request.Header.Set("X-Ms-Date", date)
	request.Header.Set("X-Ms-Version", "2020-11-05")
	answer := httptest.NewRecorder()
	o.engine.ServeHTTP(answer, request)
	return answer
}

// dropScript deletes the stored procedure whose id has a prefix.
func (o *observed) dropScript(prefix string) {
	o.Helper()
	const sprocs = "dbs/" + cosmos.DefaultDatabase + "/colls/posts/sprocs"
	var list struct{ StoredProcedures []struct{ ID string } }
	if answer := o.manage("GET", sprocs); json.Unmarshal(answer.Body.Bytes(), &list) != nil {
		o.Fatal(answer.Code, answer.Body)
	}
	for _, script := range list.StoredProcedures {
		if strings.HasPrefix(script.ID, prefix) {
			if answer := o.manage("DELETE", sprocs+"/"+script.ID); answer.Code != http.StatusNoContent {
				o.Fatal(answer.Code, answer.Body)
			}
			return
		}
	}
	o.Fatalf("there is no %s among %v", prefix, list)
}

// Commands fail without a script. A script of another version has another id.
func TestProcessWithoutAScriptIsNotReady(t *testing.T) {
	t.Parallel()
	o := observe(t, openBlog(t), nil, everyLag)
	if status, answer := o.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
	o.dropScript("createLike-")
	o.pass(scriptsAge - time.Second) // too early for another lookup
	if status, answer := o.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
	o.pass(time.Second)
	if status, answer := o.readyz(); status != 503 || !slices.Equal(answer.Waiting, []string{"scripts"}) {
		t.Errorf("%d %+v", status, answer)
	}
	if log := o.log.String(); !strings.Contains(log, "lacks the scripts createLike-") {
		t.Errorf("the log does not name the missing script: %s", log)
	}
}

// A process is not ready after leases was lost and created again without the number of the format.
// The log says why.
func TestProcessWithoutAFormatIsNotReady(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	o := observe(t, b, nil, everyLag)
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
	o := observe(t, openBlog(t), nil, everyLag)
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
