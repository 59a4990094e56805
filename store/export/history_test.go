package export_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/export"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

const wentBack = "the database went back to an earlier state"

// endHistory ends the history of a name, and returns the name of the next one.
func (w *world) endHistory(former string) string {
	w.T.Helper()
	history, err := w.EndHistory(w.Ctx(), former, "a test")
	w.OK(err)
	return history.Name
}

// exportHidden exports while the feeds show nothing from their beginnings.
func (w *world) exportHidden() export.Result {
	w.T.Helper()
	w.Wire.Inject(storetest.HideItems)
	defer w.Wire.Inject(nil)
	return w.export()
}

// isQueryOfItems reports whether a request reads all items of a container.
func isQueryOfItems(request *http.Request) bool {
	return request.Header.Get("X-Ms-Documentdb-Query") != "" && request.Header.Get("X-Ms-Documentdb-Partitionkey") == ""
}

// manifest is a part of an export's manifest.
type manifest struct {
	History string
	ByQuery bool
	Items   *struct{ Container, Continuation string }
}

func (w *world) manifest() (m manifest) {
	w.T.Helper()
	text, err := os.ReadFile(filepath.Join(w.folder, "export.json"))
	w.OK(err)
	w.OK(json.Unmarshal(text, &m))
	return m
}

// TestExportOfRestoredDatabase exports items that no feed shows, and then what changes.
func TestExportOfRestoredDatabase(t *testing.T) {
	for name, w := range map[string]*world{"one range": newWorld(t), "four ranges": {World: storetest.NewDividedWorld(t), folder: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			ada, bob, posts := w.addBlog()
			w.RemovePost(posts[2])
			history := w.endHistory("")
			first := w.exportHidden()
			if first.Users != 2 || first.Posts != 4 || first.Tags != 6 || first.Comments != 4 || first.Likes != 6 {
				t.Errorf("wrote %+v", first)
			}
			w.isEqual()
			if m := w.manifest(); m.History != history || !m.ByQuery || m.Items != nil {
				t.Errorf("the manifest is %+v", m)
			}
			w.Clock.Advance(36 * time.Hour)
			_, err := w.UnlikePost(w.Ctx(), ada, posts[0].ID)
			w.OK(err)
			w.RemovePost(posts[3])
			_, err = w.UpdateUser(w.Ctx(), bob.ID, "Robert")
			w.OK(err)
			if second := w.exportHidden(); second.Posts != 2 || second.Users != 1 {
				t.Errorf("then wrote %+v", second)
			}
			w.isEqual()
			if third := w.exportHidden(); third != (export.Result{UpTo: w.Clock.Now()}) || len(w.again) > 0 {
				t.Errorf("an export without changes wrote %+v, %q", third, w.again)
			}
		})
	}
}

// TestFilesOfRestoredDatabase checks that an export by query does not begin files with each item.
func TestFilesOfRestoredDatabase(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	for i := range 40 {
		w.Clock.Advance(time.Duration(1-2*(i%2)) * 20 * time.Hour) // of two days in turns
		w.AddPost(ada)
	}
	w.endHistory("")
	w.Wire.Inject(storetest.HideItems)
	options := w.options()
	options.BatchRows = 0
	_, err := export.Run(w.Ctx(), w.DB, options)
	w.OK(err)
	w.Wire.Inject(nil)
	w.isEqual()
	if n := len(w.files()); n > 8 {
		t.Errorf("%d files", n)
	}
}

// TestWritesDuringQuery writes before every query of all items. The same run has what was written.
func TestWritesDuringQuery(t *testing.T) {
	w := newWorld(t)
	ada, bob, posts := w.addBlog()
	w.endHistory("")
	other := w.Another()
	writes := []func(){
		func() { other.AddLike(other.AddUser("Cyd"), posts[0]) },
		func() { other.AddPost(ada) },
		func() { other.RemovePost(posts[1]) },
		func() {
			_, err := other.UnlikePost(w.Ctx(), bob, posts[2].ID)
			w.OK(err)
		},
		func() { other.AddComment(bob, posts[3]) },
		func() {
			content := long + "er"
			_, err := other.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: posts[3].Ref(), PostChange: blog.PostChange{Content: &content}})
			w.OK(err)
		},
	}
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if isQueryOfItems(request) && len(writes) > 0 {
			writes[0]()
			writes = writes[1:]
		}
		return storetest.HideItems(n, request, next)
	})
	w.export()
	w.Wire.Inject(nil)
	w.isEqual()
	if len(writes) > 0 {
		t.Errorf("%d writes were left", len(writes))
	}
}

// itemsLeft returns where the query of all items continues; empty if it is done or not begun.
func (w *world) itemsLeft() string {
	w.T.Helper()
	if _, err := os.Stat(filepath.Join(w.folder, "export.json")); err != nil {
		return ""
	}
	if m := w.manifest(); m.Items != nil {
		return m.Items.Container + m.Items.Continuation
	}
	return ""
}

// TestSplitsDuringQuery splits feed ranges between the pages of the queries.
func TestSplitsDuringQuery(t *testing.T) {
	w := &world{World: storetest.NewDividedWorld(t), folder: t.TempDir()}
	w.addBlog()
	w.endHistory("")
	queries := 0
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if isQueryOfItems(request) {
			if queries++; queries%2 == 0 && queries <= 6 {
				w.split(schema.Posts, queries/2)
				w.split(schema.Users, queries/2)
			}
		}
		return storetest.HideItems(n, request, next)
	})
	w.export()
	w.Wire.Inject(nil)
	w.isEqual()
	w.AddLike(w.AddUser("Cyd"), &blog.Post{ID: w.ids()[0]})
	w.exportHidden()
	w.isEqual()
	if len(w.again) > 0 {
		t.Error(w.again)
	}
}

// TestHistoryEnds ends the history between two exports, and during one: an export that reads feeds,
// and one that reads by query.
func TestHistoryEnds(t *testing.T) {
	w := newWorld(t)
	ada, _, _ := w.addBlog()
	w.export()
	history := w.endHistory("")
	w.AddPost(ada)
	w.exportHidden()
	w.isEqual()
	if want := []string{wentBack}; !slices.Equal(w.again, want) {
		t.Errorf("the reasons are %q", w.again)
	}

	for i, calls := range []int{1, 2, 3} { // while reading feeds
		if i > 0 {
			w.AddPost(ada)
		}
		w.again = nil
		options, n := w.options(), 0
		options.Progress = func(p follow.Progress) {
			if n++; n == calls && len(w.again) == 0 {
				history = w.endHistory(history)
			}
		}
		for range 4 {
			w.AddPost(ada)
		}
		w.Wire.Inject(storetest.HideItems)
		_, err := export.Run(w.Ctx(), w.DB, options)
		w.OK(err)
		w.Wire.Inject(nil)
		w.isEqual()
		if m := w.manifest(); m.History != history || !slices.Equal(w.again, []string{wentBack}) {
			t.Errorf("the history %s ended, the export has %s, the reasons are %q", history, m.History, w.again)
		}
	}

	w.again = nil
	history = w.endHistory(history)
	options, n := w.options(), 0
	options.Progress = func(p follow.Progress) {
		if p.Total == 0 {
			n++
		}
		if n == 3 && len(w.again) == 1 { // during the query that follows
			history, n = w.endHistory(history), 4
		}
	}
	w.Wire.Inject(storetest.HideItems)
	_, err := export.Run(w.Ctx(), w.DB, options)
	w.Wire.Inject(nil)
	if err == nil || err.Error() != wentBack {
		t.Errorf("the error of an export whose history ends twice is %v", err)
	}
	w.exportHidden()
	w.isEqual()
}

// TestProgressByQuery checks the progress of an export by query: the items, and then the changes.
func TestProgressByQuery(t *testing.T) {
	w := newWorld(t)
	w.addBlog()
	w.endHistory("")
	var reported []follow.Progress
	options := w.options()
	options.Progress = func(p follow.Progress) { reported = append(reported, p) }
	w.Wire.Inject(storetest.HideItems)
	_, err := export.Run(w.Ctx(), w.DB, options)
	w.OK(err)
	// Two users, and four posts with their comments, likes and two long contents.
	if len(reported) < 8 || reported[0] != (follow.Progress{}) || !slices.Contains(reported, follow.Progress{Done: 2 + 4*4 + 2}) {
		t.Errorf("reported %+v", reported)
	}
}

// reset returns a world with fewer changes than a former one, for the same folder. No history has
// ended in it.
func (w *world) reset() *world {
	w.T.Helper()
	other := newWorld(w.T)
	other.folder = w.folder
	other.Clock.Advance(w.Clock.Now().Sub(other.Clock.Now()))
	other.AddPost(other.AddUser("Zoe"))
	return other
}

// TestResetDatabase exports another database into the folder, which has fewer changes, and whose
// feeds do not show them. The export starts again after a minute, also if it is killed then, and
// reads by query also when it starts again later.
func TestResetDatabase(t *testing.T) {
	for _, step := range []string{"", "remove unfinished files", "finish a file"} {
		w := newWorld(t)
		w.addBlog()
		w.export()
		other := w.reset()
		killed := errors.New("killed")
		options := other.options()
		export.SetBefore(&options, func(now string) error {
			if step == now && len(other.again) > 0 {
				return killed
			}
			return nil
		})
		other.Wire.Inject(storetest.HideItems)
		if _, err := export.Run(other.Ctx(), other.DB, options); (err != nil) != (step != "") || err != nil && !errors.Is(err, killed) {
			t.Fatal(err)
		}
		if other.waited != time.Minute || len(other.again) != 1 || !strings.HasSuffix(other.again[0], " was reset to an earlier state") {
			t.Errorf("waited %s, the reasons are %q", other.waited, other.again)
		}
		other.exportHidden()
		other.isEqual()
		if m := other.manifest(); m.History != "" || !m.ByQuery {
			t.Errorf("the manifest is %+v", m)
		}

		other.Clock.Advance(views.DeletedTTL)
		other.AddUser("Yan")
		other.exportHidden()
		other.isEqual()
		if len(other.again) != 2 || other.waited != time.Minute {
			t.Errorf("waited %s, the reasons are %q", other.waited, other.again)
		}
	}
}

// TestPositionBeyondLaggingReplica exports from a replica that lags behind the positions of the
// last run, and catches up within a minute.
func TestPositionBeyondLaggingReplica(t *testing.T) {
	for _, seconds := range []int{1, 59} {
		stale, replica := storetest.NewStale(t)
		w := &world{World: stale, folder: t.TempDir()}
		ada, _, posts := w.addBlog()
		replica.Hold()
		w.AddLike(w.AddUser("Cyd"), posts[0])
		replica.Lead()
		w.export()
		replica.Hold()
		n := 0
		w.during = func() {
			if n++; n == seconds {
				replica.CatchUp()
			}
		}
		w.export()
		if w.waited != time.Duration(seconds)*time.Second || len(w.again) > 0 {
			t.Errorf("the replica lagged for %d s: waited %s, %q", seconds, w.waited, w.again)
		}
		w.AddPost(ada)
		w.export()
		w.isEqual()
	}
}

// TestQueryOfLaggingReplica interrupts an export by query right after it has taken its positions. A
// replica that lags behind them answers the next run at first.
func TestQueryOfLaggingReplica(t *testing.T) {
	stale, replica := storetest.NewStale(t)
	w := &world{World: stale, folder: t.TempDir()}
	w.endHistory("")
	w.addBlog()
	replica.Hold()
	w.AddComment(w.AddUser("Cyd"), &blog.Post{ID: w.ids()[0]})
	replica.Lead()
	killed := fmt.Errorf("killed")
	options := w.options()
	options.BatchRows = 1
	manifests := 0
	export.SetBefore(&options, func(step string) error {
		if step == "write the manifest" {
			manifests++
		}
		if manifests == 3 { // the first with positions was written
			return killed
		}
		return nil
	})
	if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, killed) || w.itemsLeft() == "" {
		t.Fatalf("%v, %+v", err, w.manifest())
	}
	replica.Hold()
	w.during = replica.CatchUp
	w.export()
	w.isEqual()
	if w.waited == 0 {
		t.Error("no replica lagged")
	}
}

// TestReplacedContainerDuringQuery deletes and creates a container between a query and its
// continuation.
func TestReplacedContainerDuringQuery(t *testing.T) {
	w := newWorld(t)
	w.addBlog()
	w.endHistory("")
	killed, pages := errors.New("killed"), 0
	options := w.options()
	options.BatchRows = 1
	options.Progress = func(p follow.Progress) {
		if p.Done > 4 {
			pages++
		}
	}
	export.SetBefore(&options, func(string) error {
		if pages > 0 {
			return killed
		}
		return nil
	})
	if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, killed) || w.itemsLeft() == "" {
		t.Fatal(err)
	}
	_, err := w.Container(schema.Users).Delete(w.Ctx(), nil)
	w.OK(err)
	w.World = w.Another() // creates the container again
	w.AddUser("Zoe")
	w.exportHidden()
	w.isEqual()
	if want := []string{"a container was deleted and created again"}; !slices.Equal(w.again, want) {
		t.Errorf("the reasons are %q", w.again)
	}
}
