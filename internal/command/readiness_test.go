package command

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

	"cosmosblog/store"
)

// manage sends a signed request for a script's definition, or for the list of them, to the engine.
func (w *watched) manage(method, link string) *httptest.ResponseRecorder {
	w.Helper()
	key, err := base64.StdEncoding.DecodeString(w.database.Engine.Key())
	if err != nil {
		w.Fatal(err)
	}
	signed, date := link, time.Now().UTC().Format(http.TimeFormat)
	if method == http.MethodGet {
		signed = strings.TrimSuffix(link, "/sprocs")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(method) + "\nsprocs\n" + signed + "\n" + strings.ToLower(date) + "\n\n"))
	request := httptest.NewRequest(method, "/"+link, nil)
	request.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
	request.Header.Set("X-Ms-Date", date)
	request.Header.Set("X-Ms-Version", "2020-11-05")
	answer := httptest.NewRecorder()
	w.database.Engine.ServeHTTP(answer, request)
	return answer
}

// dropScript deletes a stored procedure whose id begins so.
func (w *watched) dropScript(prefix string) {
	w.Helper()
	const sprocs = "dbs/" + store.DefaultDatabase + "/colls/posts/sprocs"
	var list struct{ StoredProcedures []struct{ ID string } }
	if answer := w.manage("GET", sprocs); json.Unmarshal(answer.Body.Bytes(), &list) != nil {
		w.Fatal(answer.Code, answer.Body)
	}
	for _, script := range list.StoredProcedures {
		if strings.HasPrefix(script.ID, prefix) {
			if answer := w.manage("DELETE", sprocs+"/"+script.ID); answer.Code != http.StatusNoContent {
				w.Fatal(answer.Code, answer.Body)
			}
			return
		}
	}
	w.Fatalf("there is no %s among %v", prefix, list)
}

// Where a script is missing, or is not the one of this version, which is another id, commands would fail.
func TestWithoutAScriptNothingIsReady(t *testing.T) {
	w := watch(t, openInMemory(t), nil, all)
	if status, answer := w.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
	w.dropScript("createLike-")
	w.pass(scriptsAge - time.Second) // what was found is known for so long
	if status, answer := w.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
	w.pass(time.Second)
	if status, answer := w.readyz(); status != 503 || !slices.Equal(answer.Waiting, []string{"scripts"}) {
		t.Errorf("%d %+v", status, answer)
	}
	if log := w.log.String(); !strings.Contains(log, "lacks the scripts createLike-") {
		t.Errorf("the log does not tell which: %s", log)
	}
}

// Where it is repaired, that is seen at once.
func TestScriptsThatCameBack(t *testing.T) {
	w := watch(t, openInMemory(t), nil, all)
	w.dropScript("createLike-")
	if status, _ := w.readyz(); status != 503 {
		t.Errorf("without the script: %d", status)
	}
	again, err := store.OpenEmbedded(t.Context(), w.database.Engine, store.Options{}) // makes what is missing
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	w.pass(latestAge)
	if status, answer := w.readyz(); status != 200 {
		t.Errorf("%d %+v", status, answer)
	}
}
