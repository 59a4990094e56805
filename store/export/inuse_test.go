//go:build ci

package export_test

import (
	"errors"
	"flag"
	"net/http"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cosmosblog/blog"
	"cosmosblog/proof/exporttest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/export"
)

// init reduces the runs of the random test. The flag -rapid.checks has precedence.
func init() {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
}

// TestExportOfDatabaseInUse writes at random, also while an export runs, and kills exports. After
// the last export, both are equal.
func TestExportOfDatabaseInUse(t *testing.T) {
	testseed.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		users := []*blog.User{w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Carl")}
		posts := []*blog.Post{w.AddPost(users[0])}
		write := func() {
			user, post := rapid.SampledFrom(users).Draw(r, "user"), rapid.SampledFrom(posts).Draw(r, "post")
			var err error
			switch rapid.IntRange(0, 8).Draw(r, "step") {
			case 0, 1:
				posts = append(posts, w.AddPost(user))
			case 2, 3:
				w.AddLike(user, post)
			case 4:
				_, err = w.UnlikePost(w.Ctx(), user, post.ID)
			case 5:
				w.AddComment(user, post)
			case 6:
				if comments := storetest.ListAll(w.World, post.ID, w.Comments); len(comments) > 0 {
					_, err = w.DeleteComment(w.Ctx(), comments[0].Author.ID, post.ID, comments[0].ID)
				}
			case 7:
				content := rapid.SampledFrom([]string{"short", long, long + "er"}).Draw(r, "content")
				_, err = w.UpdatePost(w.Ctx(), post.Author.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content}})
			case 8:
				if len(posts) > 1 {
					w.RemovePost(post)
					posts = slices.DeleteFunc(posts, func(p *blog.Post) bool { return p == post })
				}
			}
			w.OK(err)
			w.Clock.Advance(time.Duration(rapid.IntRange(0, 8).Draw(r, "hours")) * time.Hour)
		}
		reader := w.Another() // its requests are those of the export
		history := ""
		for range rapid.IntRange(1, 12).Draw(r, "exports") {
			for range rapid.IntRange(0, 8).Draw(r, "writes") {
				write()
			}
			if rapid.IntRange(0, 4).Draw(r, "the history ends") == 0 {
				history = w.endHistory(history)
			}
			options := w.options()
			options.Parallel = 1 // the drawn numbers have an order
			steps, every := 0, rapid.IntRange(1, 9).Draw(r, "requests between writes")
			reader.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if n%every == 0 {
					write()
				}
				if history != "" {
					return storetest.HideItems(n, request, next)
				}
				return next.Do(request)
			})
			killedAt := rapid.IntRange(1, 40).Draw(r, "killed at")
			export.SetBefore(&options, func(string) error {
				if steps++; steps == killedAt {
					return errors.New("killed")
				}
				return nil
			})
			_, _ = export.Run(w.Ctx(), reader.DB, options)
			reader.Wire.Inject(nil)
			_, err := exporttest.Read(w.folder)
			w.OK(err)
		}
		w.export()
		w.isEqual()
	})
}
