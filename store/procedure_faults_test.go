package store_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// partitionItems are the stored items of one partition by id.
type partitionItems map[string]map[string]any

func (w *world) partition(postID string) partitionItems {
	w.T.Helper()
	all, err := cosmos.Query[map[string]any](w.Ctx(), w.Container(schema.Posts), postID, "SELECT * FROM c", 100)
	w.OK(err)
	items := partitionItems{}
	for _, item := range all {
		items[item["id"].(string)] = item
	}
	return items
}

// equal compares all properties, including system properties.
func (p partitionItems) equal(other partitionItems) bool {
	a, _ := json.Marshal(p)
	b, _ := json.Marshal(other)
	return string(a) == string(b)
}

// checkCounts compares the post's counters with the items that they count.
func (p partitionItems) checkCounts(t *testing.T, postID string) {
	t.Helper()
	found := map[string]float64{}
	for _, item := range p {
		if item["deleted"] != true {
			found[item["type"].(string)]++
		}
	}
	post := p[postID]
	if post["commentCount"] != found["comment"] || post["likeCount"] != found["like"] {
		t.Errorf("the post counts %v comments and %v likes, the items are %v", post["commentCount"], post["likeCount"], found)
	}
	if got, want := recentTexts(post), p.newestTexts(); !slices.Equal(got, want) {
		t.Errorf("the post has the recent comments %q, the newest are %q", got, want)
	}
}

// newestTexts returns the texts of the newest three comments, newest first.
func (p partitionItems) newestTexts() (texts []string) {
	var comments []map[string]any
	for _, item := range p {
		if item["type"] == "comment" {
			comments = append(comments, item)
		}
	}
	slices.SortFunc(comments, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(b["creationDate"].(string), a["creationDate"].(string)), cmp.Compare(b["id"].(string), a["id"].(string)))
	})
	for _, comment := range comments[:min(len(comments), blog.MaxRecentComments)] {
		texts = append(texts, comment["userUsername"].(string)+": "+comment["content"].(string))
	}
	return texts
}

func recentTexts(post map[string]any) (texts []string) {
	for _, comment := range post["recentComments"].([]any) {
		comment := comment.(map[string]any)
		texts = append(texts, comment["userUsername"].(string)+": "+comment["excerpt"].(string))
	}
	return texts
}

// conversation is a post by Ada with four comments and a like by Bob. comment is the newest. Carla
// has neither commented nor liked.
type conversation struct {
	ada, bob, carla *blog.User
	post            *blog.Post
	comment         *blog.Comment
}

func (w *world) conversation(ada, bob, carla *blog.User) conversation {
	post := w.AddPost(ada)
	for range blog.MaxRecentComments {
		w.AddComment(bob, post)
	}
	comment := w.AddComment(bob, post)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	return conversation{ada, bob, carla, post, comment}
}

// updateUsernames executes the procedure once.
func (w *world) updateUsernames(postID string, argument map[string]any) (more bool, err error) {
	argument["postId"] = postID
	var a struct {
		Code string
		More bool
	}
	_, err = w.DB.Execute(w.Ctx(), schema.UpdateUsernames, postID, argument, &a)
	if err == nil && a.Code != schema.CodeOK {
		w.T.Errorf("the code is %s", a.Code)
	}
	return a.More, err
}
