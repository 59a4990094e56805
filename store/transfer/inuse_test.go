//go:build ci

package transfer_test

import (
	"context"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/transfer"
)

// init reduces the runs of the random test. The flag -rapid.checks has precedence.
func init() {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
}

// TestCopyOfDatabaseInUse writes at random, and interrupts copies in between. After the last
// copy, both databases have the same sources.
func TestCopyOfDatabaseInUse(t *testing.T) {
	testseed.Check(t, func(r *rapid.T) {
		a, b := newWorld(t), newWorld(t)
		users := []*blog.User{a.AddUser("Ada"), a.AddUser("Bob"), a.AddUser("Carl")}
		posts := []*blog.Post{a.AddPost(users[0])}
		anyUser := func() *blog.User { return rapid.SampledFrom(users).Draw(r, "user") }
		anyPost := func() *blog.Post { return rapid.SampledFrom(posts).Draw(r, "post") }
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0:
				posts = append(posts, a.AddPost(anyUser()))
			case 1, 2:
				a.AddLike(anyUser(), anyPost())
			case 3:
				_, err := a.UnlikePost(a.Ctx(), anyUser(), anyPost().ID)
				a.OK(err)
			case 4:
				a.AddComment(anyUser(), anyPost())
			case 5:
				post := anyPost()
				if comments := storetest.ListAll(a.World, post.ID, a.Comments); len(comments) > 0 {
					_, err := a.DeleteComment(a.Ctx(), comments[0].Author.ID, post.ID, comments[0].ID)
					a.OK(err)
				}
			case 6:
				a.Clock.Advance(time.Second)
			case 7:
				post, content := anyPost(), longText(rapid.SampledFrom([]int{1, schema.MaxInlineContent, schema.MaxInlineContent + 1}).Draw(r, "content"))
				_, err := a.UpdatePost(a.Ctx(), post.Author.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content}})
				a.OK(err)
			default:
				n := rapid.IntRange(1, 60).Draw(r, "interrupted at")
				ctx, cancel := context.WithCancel(t.Context())
				b.Wire.Inject(cancelAt(n, cancel))
				_, _ = transfer.Copy(ctx, a.DB, b.DB, copyOptions())
				cancel()
				b.Wire.Inject(nil)
			}
		}
		a.copyTo(b)
		if difference := cmp.Diff(a.sources(), b.sources()); difference != "" {
			r.Fatalf("(- source, + copy):\n%s", difference)
		}
	})
}

// TestSplitDuringCopy splits the feed range of the posts at one page after the other, after posts
// were added. No post is missing, although each page has one item, of one part of the range.
func TestSplitDuringCopy(t *testing.T) {
	for at := 2; at <= 36; at += 2 {
		a, b := newWorld(t), newWorld(t)
		ada := a.AddUser("Ada")
		for range 6 {
			a.AddPost(ada)
		}
		other, pages := a.another(), 0
		a.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
				switch pages++; pages {
				case 6:
					for range 30 {
						other.AddPost(ada)
					}
				case at:
					a.OK(a.Account.Split(cosmos.DefaultDatabase, schema.Posts, "0"))
				}
			}
			return next.Do(request)
		})
		options := copyOptions().SmallPages(1)
		_, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options)
		a.OK(err)
		a.Wire.Inject(nil)
		a.hasSameSources(b)
		if pages < at {
			t.Errorf("the copy read %d pages", pages)
		}
	}
}
