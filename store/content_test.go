package store_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// text returns a content of a size in bytes that names the edit that wrote it.
func text(edit, size int) string {
	return strings.Repeat(fmt.Sprintf("edit %d ", edit), size/7+2)[:size]
}

// Sizes on both sides of the line.
const short, long = schema.MaxInlineContent, schema.MaxInlineContent + 1

// storesContent fails the test unless a content of a post is stored in the one place for its size.
func (w *world) storesContent(postID, content string) {
	w.T.Helper()
	post, _, err := cosmos.Read[schema.PostItem](w.Ctx(), w.Container(schema.Posts), postID, postID)
	w.OK(err)
	item, _, err := cosmos.Read[schema.ContentItem](w.Ctx(), w.Container(schema.Posts), postID, schema.ContentID)
	switch {
	case post.ContentSize != blog.SizeOf(content) || post.Excerpt != blog.Excerpt(content):
		w.T.Errorf("the post has %v and the excerpt %q", post.ContentSize, post.Excerpt)
	case len(content) <= short && (post.Content != content || post.ContentVersion != 0 || !cosmos.IsNotFound(err)):
		w.T.Errorf("a short content is stored as %d bytes of version %d, and its item: %v", len(post.Content), post.ContentVersion, err)
	case len(content) > short && (post.Content != "" || err != nil || item.Content != content || item.Version != post.ContentVersion):
		w.T.Errorf("a long content is stored as %d bytes of version %d, and its item: %v", len(post.Content), post.ContentVersion, err)
	}
}

// An edit moves a content into its post or out of it, whenever it crosses the line. Every result
// and every read has the content as it was written.
func TestContentCrossesTheLine(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	for _, size := range []int{1, short, long, blog.MaxContentBytes} {
		created, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "Edit 1", Content: text(1, size), IdempotencyKey: new(fmt.Sprint(size))})
		w.OK(err)
		w.storesContent(created.ID, text(1, size))
		again, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "Edit 1", Content: text(1, size), IdempotencyKey: new(fmt.Sprint(size))})
		w.OK(err)
		if created.Content != text(1, size) || again.ID != created.ID || again.ContentLoaded() && again.Content != created.Content {
			t.Errorf("created %+v and again %+v", created, again)
		}
		for i, next := range []int{short, long, long + 1, short - 1, long, 1} {
			edit := i + 2
			title, content := fmt.Sprint("Edit ", edit), text(edit, next)
			edited, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: created.Ref(), PostChange: blog.PostChange{Title: &title, Content: &content}})
			w.OK(err)
			if edited.Content != content || edited.Title != title || edited.Version != edit || edited.ContentSize.Bytes() != next {
				t.Errorf("edit %d returns %q with %d bytes, version %d", edit, edited.Title, len(edited.Content), edited.Version)
			}
			w.storesContent(created.ID, content)
			read, err := w.Post(w.Ctx(), created.ID)
			w.OK(err)
			if read.Content != content || read.Title != title {
				t.Errorf("edit %d is read as %q with %d bytes", edit, read.Title, len(read.Content))
			}
		}
	}
}

// An edit that leaves a long content does not touch its item, and one with the same texts writes
// nothing.
func TestEditLeavesLongContent(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: text(1, long)})
	w.OK(err)
	title, same, equal := "Another title", text(1, long), text(2, long)
	edited, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Content: &same}})
	w.OK(err)
	if edited.Title != title || edited.Version != 2 || edited.ContentVersion != 1 {
		t.Errorf("the post is %+v", edited)
	}
	if edited, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Content: &same}}); err != nil || edited.Version != 2 {
		t.Errorf("an edit without changes was written: version %d, %v", edited.Version, err)
	}
	if edited, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &equal}}); err != nil || edited.Version != 3 {
		t.Errorf("an edit to another content of the same size: version %d, %v", edited.Version, err)
	}
	w.storesContent(post.ID, equal)
}

// Whatever request of an edit is lost, and however, the post is as before or after the edit. If the
// edit succeeds, it is as after.
func TestLostEditOfContent(t *testing.T) {
	for _, sizes := range [][2]int{{short, long}, {long, short}, {long, long + 1}} {
		for name, fault := range map[string]func(n int) cosmostest.Fault{
			"dead": func(n int) cosmostest.Fault { return cosmostest.From(n, storetest.CutBefore) },
			"cut":  func(n int) cosmostest.Fault { return cosmostest.Nth(n, storetest.CutAfter) },
		} {
			for n := 1; ; n++ {
				w := newWorld(t)
				ada := w.AddUser("Ada")
				post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "Edit 1", Content: text(1, sizes[0])})
				w.OK(err)
				title, content := "Edit 2", text(2, sizes[1])
				w.Wire.Inject(fault(n))
				_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Content: &content}})
				sent := len(w.Wire.Requests())
				w.Wire.Inject(nil)
				read, readErr := w.Post(w.Ctx(), post.ID)
				w.OK(readErr)
				switch {
				case read.Title == title && read.Content == content && read.Version == 2:
				case err != nil && read.Title == "Edit 1" && read.Content == text(1, sizes[0]) && read.Version == 1:
				default:
					t.Errorf("%s at request %d: the post is %q, version %d, with %d bytes (%v)", name, n, read.Title, read.Version, len(read.Content), err)
				}
				w.storesContent(post.ID, read.Content)
				if sent < n {
					break
				}
			}
		}
	}
}

// A read meets edits before each of its requests, across the line and on its far side. It returns
// the title and the content of one edit.
func TestReadOfContentBesideEdits(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "Edit 1", Content: text(1, long)})
	w.OK(err)
	beside, edit := w.another(), 1
	crossLine := func() {
		edit++
		title, content := fmt.Sprint("Edit ", edit), text(edit, []int{long, long + 1, short}[edit%3])
		_, err := beside.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Content: &content}})
		w.OK(err)
	}
	for _, edits := range []func(n int) bool{
		func(n int) bool { return n == 1 },
		func(n int) bool { return n == 2 },
		func(n int) bool { return n == 2 || n == 3 },
		func(n int) bool { return n > 1 && n < 6 },
	} {
		for range 8 {
			w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if edits(n) {
					crossLine()
				}
				return next.Do(request)
			})
			read, err := w.Post(w.Ctx(), post.ID)
			w.OK(err)
			if want := strings.ToLower(read.Title) + " "; !strings.HasPrefix(read.Content, want) || blog.SizeOf(read.Content) != read.ContentSize {
				t.Errorf("%q has the content %.10q…, %v of %v", read.Title, read.Content, blog.SizeOf(read.Content), read.ContentSize)
			}
		}
	}
}

// A post whose content item is lost fails to be read, and can be written again.
func TestLostContentItem(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: text(1, long)})
	w.OK(err)
	w.OK(cosmos.Delete(w.Ctx(), w.Container(schema.Posts), post.ID, schema.ContentID, "*"))
	_, err = w.Post(w.Ctx(), post.ID)
	w.Fails(err, blog.Internal)
	whole, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: text(1, long)})
	w.OK(err)
	read, err := w.Posts(w.Ctx(), []string{post.ID, whole.ID})
	w.OK(err)
	both, err := w.WithContent(w.Ctx(), []*blog.Post{read[post.ID], read[whole.ID]})
	w.OK(err)
	if both[post.ID].ContentLoaded() || both[whole.ID].Content != whole.Content {
		t.Errorf("the posts are %+v and %+v", both[post.ID], both[whole.ID])
	}
	for n, content := range []string{text(2, short), text(3, long), text(4, long)} {
		if n == 2 {
			w.OK(cosmos.Delete(w.Ctx(), w.Container(schema.Posts), post.ID, schema.ContentID, "*"))
		}
		_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content}})
		w.OK(err)
		w.storesContent(post.ID, content)
	}
}
