package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// tokenFor gets a token as a person would.
func tokenFor(t *testing.T, data, subject string) string {
	t.Helper()
	p := start(t, nil, "token", "--data", data, "--sub", subject)
	token := p.says(t, `^(\S+)$`)
	if code := p.wait(t, patience); code != 0 {
		t.Fatalf("token ended with %d", code)
	}
	return token
}

// eventually asks again and again until is holds, for what other processes do in their own time.
func eventually(t *testing.T, what string, atMost time.Duration, is func() bool) {
	t.Helper()
	timeout := time.After(atMost)
	for again := time.NewTicker(5 * time.Millisecond); !is(); {
		select {
		case <-again.C:
		case <-timeout:
			t.Fatalf("%v later still not: %s", atMost, what)
		}
	}
}

// acknowledgements are what a server said yes to while several clients wrote.
type acknowledgements struct {
	mu              sync.Mutex
	comments, posts []string // contents and titles
	enough          chan struct{}
}

// note keeps what was acknowledged, and tells when it is enough to be worth a look.
func (a *acknowledgements) note(list *[]string, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*list = append(*list, text)
	if len(a.comments)+len(a.posts) == 300 {
		close(a.enough)
	}
}

// write comments on a post, and makes a post now and then, until the server is gone.
func (a *acknowledgements) write(t *testing.T, client *api, name, postID string) {
	for i := 0; ; i++ {
		text := fmt.Sprintf("%s-%d", name, i)
		list, document := &a.comments, `mutation ($text: String!, $post: ID!) { createComment(input: {postId: $post, content: $text}) { post { id } } }`
		with := variables{"text": text, "post": postID}
		if i%8 == 7 {
			list, document = &a.posts, `mutation ($text: String!) { createPost(input: {title: $text, content: $text}) { post { id } } }`
			delete(with, "post")
		}
		got, err := client.send(document, with)
		if err != nil {
			return
		}
		if len(got.Errors) > 0 {
			t.Errorf("%s: %+v", text, got.Errors)
			return
		}
		a.note(list, text)
	}
}

// TestKilledServerHasWhatItAcknowledged kills a server while clients write, starts it again, and looks for everything
// that it had said yes to, in the source at once and in the views within a second.
func TestKilledServerHasWhatItAcknowledged(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, nobody := serving(t, nil, "--data", data)
	token := tokenFor(t, data, "anna")
	anna := nobody.as(token)
	userID := anna.createUser(t, "anna")
	postID := anna.createPost(t, "The first", "It was there before.")
	acknowledged := &acknowledgements{posts: []string{"The first"}, enough: make(chan struct{})}
	var writing sync.WaitGroup
	for w := range 8 {
		writing.Go(func() { acknowledged.write(t, anna, fmt.Sprint(w), postID) })
	}
	select {
	case <-acknowledged.enough:
	case <-patient(t).Done():
		t.Fatal("the writers got nowhere")
	}
	server.kill(t)
	writing.Wait()

	server, nobody = serving(t, nil, "--data", data)
	defer server.terminate(t)
	comments, counted := allComments(t, nobody, postID)
	for _, text := range acknowledged.comments {
		if !comments[text] {
			t.Errorf("the comment %s is lost", text)
		}
	}
	if counted != len(comments) {
		t.Errorf("the post counts %d comments and has %d", counted, len(comments))
	}
	eventually(t, "the author's list and the feed have every post", time.Second, func() bool {
		mine := allTitles(t, nobody, fmt.Sprintf(`user(id: %q) { posts(first: 100) { nodes { title } } }`, userID))
		recent := allTitles(t, nobody, `feed(first: 100) { nodes { title } }`)
		return !slices.ContainsFunc(acknowledged.posts, func(title string) bool { return !mine[title] || !recent[title] })
	})
}

// allComments gives the texts of a post's comments, and how many it counts.
func allComments(t *testing.T, a *api, postID string) (texts map[string]bool, counted int) {
	t.Helper()
	texts = map[string]bool{}
	for after := ""; ; {
		var page struct {
			Post struct {
				CommentCount int
				Comments     struct {
					Nodes    []struct{ Content string }
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
		}
		with := variables{"post": postID}
		if after != "" {
			with["after"] = after
		}
		a.ask(t, `query ($post: ID!, $after: String) { post(id: $post) { commentCount comments(first: 100, after: $after) { nodes { content } pageInfo { hasNextPage endCursor } } } }`, with, &page)
		for _, comment := range page.Post.Comments.Nodes {
			if texts[comment.Content] {
				t.Errorf("the comment %s is there twice", comment.Content)
			}
			texts[comment.Content] = true
		}
		if !page.Post.Comments.PageInfo.HasNextPage {
			return texts, page.Post.CommentCount
		}
		after = page.Post.Comments.PageInfo.EndCursor
	}
}

// allTitles gives the titles of a field's posts.
func allTitles(t *testing.T, a *api, field string) map[string]bool {
	t.Helper()
	got := a.ask(t, `{ `+field+` }`, nil, nil)
	var found any
	if err := json.Unmarshal(got.Data, &found); err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	collectTitles(found, titles)
	return titles
}

func collectTitles(found any, titles map[string]bool) {
	switch found := found.(type) {
	case map[string]any:
		for name, value := range found {
			if title, ok := value.(string); ok && name == "title" {
				titles[title] = true
			}
			collectTitles(value, titles)
		}
	case []any:
		for _, value := range found {
			collectTitles(value, titles)
		}
	}
}
