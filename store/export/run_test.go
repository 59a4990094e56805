package export_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/exporttest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/export"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// world is a storetest.World with the folder of an export.
type world struct {
	*storetest.World
	folder string
	again  []string      // reasons for which the export has started again
	waited time.Duration // for lagging replicas, a second at a time
	during func()        // called for each second; may be nil
}

func newWorld(t *testing.T) *world { return &world{World: storetest.New(t), folder: t.TempDir()} }

// options returns options with small pages and batches.
func (w *world) options() export.Options {
	w.Sleeps = func(d time.Duration) {
		if d != time.Second {
			return
		}
		w.Clock.Advance(d)
		if w.waited += d; w.during != nil {
			w.during()
		}
	}
	return export.Options{
		Folder: w.folder, Source: "a test", PageSize: 3, BatchRows: 5, Parallel: 2,
		StartsAgain: func(reason string) { w.again = append(w.again, reason) },
		Malformed:   func(err error) { w.T.Error(err) },
	}
}

func (w *world) export() export.Result {
	w.T.Helper()
	result, err := export.Run(w.Ctx(), w.DB, w.options())
	w.OK(err)
	return result
}

// isEqual checks that the export equals the database.
func (w *world) isEqual() exporttest.State {
	w.T.Helper()
	source, err := exporttest.Source(w.Ctx(), w.DB)
	w.OK(err)
	exported, err := exporttest.Read(w.folder)
	w.OK(err)
	if difference := exporttest.Difference(source, exported); difference != "" {
		w.T.Fatal(difference)
	}
	return exported
}

// files returns the paths of all files of rows.
func (w *world) files() []string {
	w.T.Helper()
	paths, err := fs.Glob(os.DirFS(w.folder), "*/date=*/*.parquet")
	w.OK(err)
	for i, path := range paths {
		paths[i] = filepath.Join(w.folder, path)
	}
	return paths
}

var long = strings.Repeat("long ", schema.MaxInlineContent/4)

// addBlog adds users, posts with short and long contents, tags, comments and likes.
func (w *world) addBlog() (ada, bob *blog.User, posts []*blog.Post) {
	w.T.Helper()
	ada, bob = w.AddUser("Ada"), w.AddUser("Bob")
	for i := range 4 {
		input := blog.CreatePostInput{Title: fmt.Sprint("Post ", i), Content: "<b> & é \u2028", Tags: []string{"go", fmt.Sprint("tag-", i)}}
		if i%2 == 1 {
			input.Content = long
		}
		post, err := w.CreatePost(w.Ctx(), ada, input)
		w.OK(err)
		w.AddComment(bob, post)
		w.AddLike(bob, post)
		w.AddLike(ada, post)
		posts = append(posts, post)
	}
	return ada, bob, posts
}

func TestExportFollowsDatabase(t *testing.T) {
	w := newWorld(t)
	ada, bob, posts := w.addBlog()
	first := w.export()
	if want := (export.Result{Users: 2, Posts: 4, Tags: 8, Comments: 4, Likes: 8, UpTo: w.Clock.Now()}); first != want {
		t.Errorf("wrote %+v, want %+v", first, want)
	}
	w.isEqual()

	w.Clock.Advance(36 * time.Hour)
	_, err := w.UnlikePost(w.Ctx(), ada, posts[0].ID)
	w.OK(err)
	text := "edited, " + long
	_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: posts[1].Ref(), PostChange: blog.PostChange{Content: &text}})
	w.OK(err)
	comment := w.AddComment(bob, posts[1])
	_, err = w.DeleteComment(w.Ctx(), bob.ID, posts[1].ID, comment.ID)
	w.OK(err)
	w.RemovePost(posts[2])
	w.AddUser("Cyd")
	_, err = w.UpdateUser(w.Ctx(), bob.ID, "Robert")
	w.OK(err)
	second := w.export()
	state := w.isEqual()
	if state["posts "+posts[2].ID] != exporttest.Deleted || state["comments "+posts[1].ID+" "+comment.ID] != exporttest.Deleted {
		t.Errorf("the export does not have the deletions: %v", state)
	}
	if state["likes "+posts[0].ID+" "+ada.ID] != "" || state["likes "+posts[0].ID+" "+bob.ID] == "" {
		t.Error("the export has a deleted like, or lacks the other one")
	}
	if second.Posts != 3 || second.Likes != 3 {
		t.Errorf("wrote %d posts and %d likes, want the three that changed with the likes of the two that exist", second.Posts, second.Likes)
	}
	dates := map[string]bool{}
	for _, path := range w.files() {
		dates[filepath.Base(filepath.Dir(path))] = true
	}
	if !dates["date=2026-11-20"] || !dates["date=2026-11-21"] || len(dates) != 2 {
		t.Errorf("the files have the dates %v", dates)
	}

	before := w.files()
	if third := w.export(); third != (export.Result{UpTo: w.Clock.Now()}) {
		t.Errorf("an export without changes wrote %+v", third)
	}
	if !slices.Equal(before, w.files()) {
		t.Error("an export without changes has written files")
	}
}

// TestKilledAtEveryStep kills the first export, and then a later one, before each of its changes of
// the folder. Whoever reads in between sees posts with the likes that they have or had. Meanwhile,
// the blog changes. The export after that equals the database.
func TestKilledAtEveryStep(t *testing.T) {
	for at, isKilled := 1, true; isKilled && !t.Failed(); at++ {
		w := newWorld(t)
		ada, bob, posts := w.addBlog()
		isKilled = w.killAt(at)
		w.eachHasLike(posts, ada)
		w.AddLike(w.AddUser("Cyd"), posts[1])
		w.AddComment(bob, posts[1])
		w.RemovePost(posts[3])
		w.export()
		w.isEqual()

		posts = posts[:3]
		for _, post := range posts {
			_, err := w.UnlikePost(w.Ctx(), ada, post.ID)
			w.OK(err)
		}
		isKilled = w.killAt(at) || isKilled
		w.eachHasLike(posts, bob)
		w.RemovePost(posts[2])
		w.export()
		w.isEqual()
		if !isKilled && at < 12 || t.Failed() {
			t.Errorf("killed before step %d", at)
		}
	}
}

// TestUncommittedFilesAreRemoved kills an export after it has moved the files of a batch.
func TestUncommittedFilesAreRemoved(t *testing.T) {
	w := newWorld(t)
	w.folder = filepath.Join(w.folder, "[a-b] *")
	w.addBlog()
	killed, manifests := errors.New("killed"), 0
	options := w.options()
	export.SetBefore(&options, func(step string) error {
		if step == "write the manifest" {
			if manifests++; manifests == 2 { // the first one is empty
				return killed
			}
		}
		return nil
	})
	if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	left, removed := len(w.files()), 0
	export.SetBefore(&options, func(step string) error {
		if step == "remove a file" {
			removed++
		}
		return nil
	})
	_, err := export.Run(w.Ctx(), w.DB, options)
	w.OK(err)
	if left == 0 || removed != left {
		t.Errorf("removed %d files of %d that were not committed", removed, left)
	}
	w.isEqual()
}

// TestKilledWhileCleaning kills an export that has moved the files of a batch, and then those that
// remove these files. Whoever reads in between sees posts with their likes.
func TestKilledWhileCleaning(t *testing.T) {
	w := newWorld(t)
	ada, bob, posts := w.addBlog()
	w.export()
	for _, post := range posts {
		_, err := w.UnlikePost(w.Ctx(), ada, post.ID)
		w.OK(err)
	}
	w.killBefore("write the manifest")
	for range 2 { // posts, then tags; likes are last
		w.killBefore("remove a file", "remove a file")
		w.eachHasLike(posts, bob)
	}
	w.export()
	w.isEqual()
}

// killBefore kills an export before it has taken all of some steps.
func (w *world) killBefore(steps ...string) {
	w.T.Helper()
	killed := errors.New("killed")
	options := w.options()
	options.PageSize, options.BatchRows = 100, 100
	export.SetBefore(&options, func(step string) error {
		if len(steps) > 0 && step == steps[0] {
			steps = steps[1:]
		}
		if len(steps) == 0 {
			return killed
		}
		return nil
	})
	if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, killed) {
		w.T.Fatalf("the export was not killed: %v", err)
	}
}

// killAt kills an export before a step. It returns false if the export was done before.
func (w *world) killAt(at int) bool {
	w.T.Helper()
	killed := errors.New("killed")
	options, n := w.options(), 0
	options.PageSize, options.BatchRows = 100, 100 // other files than the next export has
	export.SetBefore(&options, func(string) error {
		if n++; n == at {
			return killed
		}
		return nil
	})
	_, err := export.Run(w.Ctx(), w.DB, options)
	if err != nil && !errors.Is(err, killed) {
		w.T.Fatal(err)
	}
	return err != nil
}

// eachHasLike checks that those of the posts that are in the export have a like of a user.
func (w *world) eachHasLike(posts []*blog.Post, user *blog.User) {
	w.T.Helper()
	state, err := exporttest.Read(w.folder)
	w.OK(err)
	for _, post := range posts {
		if state["posts "+post.ID] != "" && state["likes "+post.ID+" "+user.ID] == "" {
			w.T.Errorf("the post %s lacks the like of %s", post.ID, user.Username)
		}
	}
}

// expire deletes the tombstone of a post as it expires: without a change in the feed.
func (w *world) expire(post *blog.Post) {
	w.T.Helper()
	w.OK(cosmos.Delete(w.Ctx(), w.Container(schema.Posts), post.ID, post.ID, "*"))
}

// TestStartsAgain leaves an export alone until deleted items have expired.
func TestStartsAgain(t *testing.T) {
	w := newWorld(t)
	ada, _, posts := w.addBlog()
	w.export()
	old := w.files()
	w.RemovePost(posts[0])
	w.expire(posts[0])
	w.Clock.Advance(views.DeletedTTL + time.Hour)
	w.AddPost(ada)

	options := w.options()
	kill := errors.New("killed")
	moved := 0
	export.SetBefore(&options, func(step string) error {
		if step == "move a file" {
			if moved++; moved == 12 {
				return kill
			}
		}
		return nil
	})
	if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, kill) {
		t.Fatal(err)
	}
	w.existAll(old)
	abandoned := slices.DeleteFunc(w.files(), func(path string) bool { return slices.Contains(old, path) })
	w.Clock.Advance(views.DeletedTTL + time.Hour)
	moved = 0
	if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, kill) {
		t.Fatal(err)
	}
	w.existAll(old)
	for _, path := range abandoned[:3] {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s of an attempt that was abandoned is still there", path)
		}
	}
	w.export()
	state := w.isEqual()
	if _, ok := state["posts "+posts[0].ID]; ok {
		t.Error("the export has a post that expired")
	}
	if want := "the changes since 2026-11-20T09:00:00Z are read too late: deleted items are visible for seven days only"; len(w.again) != 2 || w.again[0] != want {
		t.Errorf("the reasons are %q", w.again)
	}
	for _, path := range old {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

// existAll checks that files exist.
func (w *world) existAll(paths []string) {
	w.T.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			w.T.Errorf("a file of before is gone before the export is complete: %v", err)
		}
	}
}

func TestStartsAgainWithAnotherContainer(t *testing.T) {
	w := newWorld(t)
	w.addBlog()
	w.export()
	_, err := w.Container(schema.Users).Delete(w.Ctx(), nil)
	w.OK(err)
	w.World = w.Another() // creates the container again
	w.AddUser("Zoe")
	w.export()
	w.isEqual()
	if want := []string{"a container was deleted and created again"}; !slices.Equal(w.again, want) {
		t.Errorf("the reasons are %q", w.again)
	}
}

func TestFoldersThatAreNotAnExport(t *testing.T) {
	w := newWorld(t)
	w.addBlog()
	refused := func(want string, change func(*export.Options)) {
		t.Helper()
		options := w.options()
		change(&options)
		_, err := export.Run(w.Ctx(), w.DB, options)
		_, unusable := errors.AsType[*export.FolderError](err)
		_, inUse := errors.AsType[*export.InUseError](err)
		if !unusable && !inUse || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	w.OK(os.WriteFile(filepath.Join(w.folder, "mine"), nil, 0o600))
	refused("has other files, and no export", func(*export.Options) {})
	w.OK(os.Remove(filepath.Join(w.folder, "mine")))
	w.export()
	refused("is an export of a test, and not of another", func(o *export.Options) { o.Source = "another" })

	// A second export while one runs.
	options := w.options()
	options.Progress = func(follow.Progress) { refused("another process is exporting", func(*export.Options) {}) }
	_, err := export.Run(w.Ctx(), w.DB, options)
	w.OK(err)
	w.OK(os.WriteFile(filepath.Join(w.folder, "export.json"), []byte("{"), 0o600))
	refused("is damaged", func(*export.Options) {})
}

// TestFoldersOfOthers exports to folders in which other users can put links. A link to another file
// is not followed, in any folder.
func TestFoldersOfOthers(t *testing.T) {
	w := newWorld(t)
	w.addBlog()
	refused := func(want string) {
		t.Helper()
		_, err := export.Run(w.Ctx(), w.DB, w.options())
		if _, ok := errors.AsType[*export.FolderError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v", err)
		}
	}
	for _, mode := range []fs.FileMode{0o702, 0o772, 0o777 | fs.ModeSticky} {
		w.OK(os.Chmod(w.folder, mode))
		refused("chmod o-w")
	}
	w.OK(os.Chmod(w.folder, 0o755))
	if os.Geteuid() == 0 {
		w.OK(os.Chown(w.folder, 4321, -1))
		refused("belongs to the user 4321")
		w.OK(os.Chown(w.folder, 0, -1))
	}
	mine := filepath.Join(t.TempDir(), "mine")
	w.OK(os.WriteFile(mine, []byte("mine"), 0o600))
	w.OK(os.Symlink(mine, filepath.Join(w.folder, ".export.json")))
	w.export()
	w.isEqual()
	w.OK(os.Remove(filepath.Join(w.folder, "lock")))
	w.OK(os.Symlink(mine, filepath.Join(w.folder, "lock")))
	if _, err := export.Run(w.Ctx(), w.DB, w.options()); err == nil {
		t.Error("locked the target of a link")
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("the other file has %q, %v", text, err)
	}
}

func TestExportOfSplitRanges(t *testing.T) {
	w := &world{World: storetest.NewDividedWorld(t), folder: t.TempDir()}
	w.addBlog()
	options := w.options()
	splits := 0
	options.Progress = func(follow.Progress) {
		if splits++; splits == 3 || splits == 6 {
			w.split(schema.Posts, splits/3)
			w.split(schema.Users, splits/3)
		}
	}
	_, err := export.Run(w.Ctx(), w.DB, options)
	w.OK(err)
	w.isEqual()
	for i, name := range []string{"Cyd", "Dia"} { // with positions of ranges that exist no longer
		w.split(schema.Posts, 3*i)
		w.AddLike(w.AddUser(name), &blog.Post{ID: w.ids()[0]})
		if result := w.export(); result.Posts != 1 || result.Users != 1 {
			t.Errorf("wrote %d posts and %d users, want one of each", result.Posts, result.Users)
		}
		w.isEqual()
	}
	if len(w.again) > 0 {
		t.Error(w.again)
	}
}

func TestExportUnderFaults(t *testing.T) {
	w := newWorld(t)
	_, _, posts := w.addBlog()
	var likes []any
	for i := range 250 { // several pages
		user := &blog.User{ID: fmt.Sprintf("u_%d", i), Username: "Fan"}
		likes = append(likes, schema.NewLikeItem(posts[0].ID, &blog.Like{User: user, CreationDate: w.Clock.Date()}))
	}
	for _, like := range likes {
		w.Plant(w.Container(schema.Posts), posts[0].ID, like)
	}
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n%5 == 1 {
			return storetest.CutAfter(n, request, next)
		}
		return next.Do(request)
	})
	_, err := export.Run(w.Ctx(), w.DB, w.options())
	w.OK(err)
	w.Wire.Inject(nil)
	w.isEqual()
}

// TestLikesOfLaggingReplica reads a post from the latest state, and its likes while the other
// replica is behind.
func TestLikesOfLaggingReplica(t *testing.T) {
	stale, replica := storetest.NewStale(t)
	w := &world{World: stale, folder: t.TempDir()}
	_, _, posts := w.addBlog()
	user := w.AddUser("Cyd")
	replica.Hold()
	w.AddLike(user, posts[0])
	w.exportBehind(replica, func(request *http.Request) bool { return request.Header.Get("A-IM") != "" })
}

// exportBehind exports while some requests are answered from the latest state, and the others by a
// replica that is behind. The export equals the database.
func (w *world) exportBehind(replica *cosmostest.Replica, isLatest func(*http.Request) bool) {
	w.T.Helper()
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if isLatest(request) {
			replica.Lead()
		} else {
			replica.Hold()
		}
		return next.Do(request)
	})
	w.export()
	w.Wire.Inject(nil)
	replica.CatchUp()
	w.isEqual()
}

// TestContentOfAnotherState edits a long post between the reads of the post and of its content.
func TestContentOfAnotherState(t *testing.T) {
	for _, edits := range []int64{1, 3, 1000} {
		var left atomic.Int64 // posts are read concurrently
		left.Store(edits)
		w := newWorld(t)
		ada, _, posts := w.addBlog()
		other := w.Another()
		w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if strings.HasSuffix(request.URL.Path, "/docs/"+schema.ContentID) && left.Add(-1) >= 0 {
				text := fmt.Sprint(strings.Repeat("x", n), long)
				_, err := other.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: posts[1].Ref(), PostChange: blog.PostChange{Content: &text}})
				w.OK(err)
			}
			return next.Do(request)
		})
		w.export()
		w.Wire.Inject(nil)
		_, err := exporttest.Read(w.folder)
		w.OK(err)
		w.export()
		w.isEqual()
	}
}

// TestFeedOfLaggingReplica reads the first page of each feed from the latest state. The other
// replica, which would answer the next ones, is behind.
func TestFeedOfLaggingReplica(t *testing.T) {
	stale, replica := storetest.NewStale(t)
	w := &world{World: stale, folder: t.TempDir()}
	replica.Hold()
	w.addBlog()
	replica.Lead()
	w.exportBehind(replica, func(request *http.Request) bool {
		return request.Header.Get("A-IM") != "" && request.Header.Get("If-None-Match") == ""
	})
}

// TestFailedFile fails to finish one file in the middle of a page, which other goroutines are
// writing. No later commit may include it.
func TestFailedFile(t *testing.T) {
	for at := 1; at <= 10; at++ {
		w := newWorld(t)
		w.addBlog()
		options, n := w.options(), 0
		options.PageSize, options.Parallel = 100, 8
		full := errors.New("the disk is full")
		export.SetBefore(&options, func(step string) error {
			if step == "finish a file" {
				n++
			}
			if n == at && step == "finish a file" {
				return full
			}
			if n >= at && step == "write the manifest" {
				t.Errorf("a batch was committed after its file %d failed", at)
			}
			return nil
		})
		if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, full) {
			t.Fatalf("file %d: %v", at, err)
		}
		_, err := exporttest.Read(w.folder)
		w.OK(err)
		w.export()
		w.isEqual()
	}
}

// TestLateExport reads an export so slowly that it starts again, and is late again.
func TestLateExport(t *testing.T) {
	w := newWorld(t)
	w.addBlog()
	options := w.options()
	options.Progress = func(follow.Progress) { w.Clock.Advance(4 * 24 * time.Hour) }
	_, err := export.Run(w.Ctx(), w.DB, options)
	if _, ok := errors.AsType[*export.LateError](err); !ok || len(w.again) != 1 {
		t.Errorf("the error is %v, the reasons are %q", err, w.again)
	}
	w.export()
	w.isEqual()
}

// TestThrottledLikes reads the likes of a post, in several pages of which every other one is
// throttled.
func TestThrottledLikes(t *testing.T) {
	w := newWorld(t)
	_, _, posts := w.addBlog()
	const likes = 3500
	var texts [][]byte
	for i := range likes {
		like := schema.NewLikeItem(posts[0].ID, &blog.Like{User: &blog.User{ID: fmt.Sprintf("u_%d", i), Username: "Fan"}, CreationDate: w.Clock.Date()})
		text, err := cosmos.EncodeItem(like)
		w.OK(err)
		texts = append(texts, text)
	}
	w.PlantAll(posts[0].ID, texts)
	w.Wire.Inject(nil)
	queries := 0
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("x-ms-documentdb-query") != "" {
			if queries++; queries%2 == 1 {
				return storetest.CutBefore(n, request, next)
			}
		}
		return next.Do(request)
	})
	result := w.export()
	w.Wire.Inject(nil)
	if result.Likes != likes+8 || queries > 30 {
		t.Errorf("wrote %d likes with %d queries", result.Likes, queries)
	}
	w.isEqual()
}

// TestMalformedItems exports a blog with a like and a content that cannot be decoded, and a content
// that is missing.
func TestMalformedItems(t *testing.T) {
	w := newWorld(t)
	_, _, posts := w.addBlog()
	container := w.Container(schema.Posts)
	w.Plant(container, posts[0].ID, map[string]any{"id": "u_1", "type": "like", "postId": posts[0].ID, "userId": 1})
	_, err := container.DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(posts[1].ID), schema.ContentID, nil)
	w.OK(err)
	w.Plant(container, posts[1].ID, map[string]any{"id": schema.ContentID, "type": "content", "postId": posts[1].ID, "content": 1})
	_, err = container.DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(posts[3].ID), schema.ContentID, nil)
	w.OK(err)
	options, faults := w.options(), []string{}
	options.Parallel = 1
	options.Malformed = func(err error) { faults = append(faults, err.Error()) }
	requests := len(w.Wire.Requests())
	result, err := export.Run(w.Ctx(), w.DB, options)
	w.OK(err)
	if result.Posts != 4 || result.Likes != 8 {
		t.Errorf("wrote %+v", result)
	}
	missing := 0
	for _, fault := range faults {
		if strings.HasSuffix(fault, "is missing") {
			missing++
		}
	}
	if len(faults) != 4 || missing != 2 {
		t.Errorf("reported %q", faults)
	}
	if n := len(w.Wire.Requests()) - requests; n > 60 {
		t.Errorf("sent %d requests", n)
	}
	state, err := exporttest.Read(w.folder)
	w.OK(err)
	if text := state["posts "+posts[3].ID]; !strings.Contains(text, " <nil> ") {
		t.Errorf("the post without its content is %q", text)
	}
}

// TestClockOfMachine runs an export on machines whose clocks are wrong: the age of a position is
// that by the clock of the database, whose tombstones expire by it.
func TestClockOfMachine(t *testing.T) {
	for _, ahead := range []time.Duration{3 * 24 * time.Hour, -3 * 24 * time.Hour, 366 * 24 * time.Hour} {
		w := newWorld(t)
		_, _, posts := w.addBlog()
		wrong := w.AnotherAt(storetest.NewStillClock(w.Clock.Now().Add(ahead)), nil)
		first, err := export.Run(w.Ctx(), wrong.DB, w.options())
		w.OK(err)
		if off := first.UpTo.Sub(w.Clock.Now()); off > 0 || off < -time.Second {
			t.Errorf("a clock that is off by %s: the export is up to %s", ahead, first.UpTo)
		}
		w.Clock.Advance(time.Hour)
		w.RemovePost(posts[0])
		w.Clock.Advance(views.DeletedTTL + 24*time.Hour)
		w.expire(posts[0])
		w.export()
		w.isEqual()
		if len(w.again) != 1 {
			t.Errorf("a clock that is off by %s: began again for the reasons %q", ahead, w.again)
		}
	}
}

// split splits the nth feed range of a container.
func (w *world) split(container string, n int) {
	w.T.Helper()
	w.OK(w.Account.Split(cosmos.DefaultDatabase, container, fmt.Sprint(n)))
}

// ids returns the ids of all posts that exist.
func (w *world) ids() (ids []string) {
	w.T.Helper()
	source, err := exporttest.Source(w.Ctx(), w.DB)
	w.OK(err)
	for key, text := range source {
		if id, ok := strings.CutPrefix(key, "posts "); ok && text != exporttest.Deleted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
