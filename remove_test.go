package main

import (
	"strings"
	"testing"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// storedID gives the stored id behind one of the API.
func storedID(t *testing.T, id string) string {
	t.Helper()
	ref, err := model.UnmarshalID(id)
	if err != nil {
		t.Fatal(err)
	}
	return ref.ID
}

// isThere tells whether the API still gives a thing.
func (a *api) isThere(t *testing.T, id string) bool {
	t.Helper()
	var got struct{ Node *struct{ ID string } }
	a.ask(t, `query ($id: ID!) { node(id: $id) { id } }`, variables{"id": id}, &got)
	return got.Node != nil
}

// TestRemove removes a comment, a post and a user of others beside a running server, by both kinds of id.
func TestRemove(t *testing.T) {
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	defer server.terminate(t)
	anna, ben := reader.as(tokenFor(t, data, "anna")), reader.as(tokenFor(t, data, "ben"))
	annaID, benID := anna.createUser(t, "anna"), ben.createUser(t, "ben")
	posts := []string{anna.createPost(t, "First", "Some text."), anna.createPost(t, "Second", "Some text.")}
	comments := []string{ben.createComment(t, posts[0], "One."), ben.createComment(t, posts[0], "Two."), ben.createComment(t, posts[0], "Three.")}
	for _, c := range []struct{ kind, id, given, says string }{
		{"comment", comments[0], comments[0], "of ben on the post " + storedID(t, posts[0])},
		{"comment", comments[1], storedID(t, comments[1]), "of ben on the post " + storedID(t, posts[0])},
		{"post", posts[1], storedID(t, posts[1]), `of anna, "Second", with 0 comments`},
		{"user", benID, benID, "ben"},
		{"user", annaID, storedID(t, annaID), "anna"},
	} {
		said, err := runOnce(t, nil, "remove", c.kind, c.given, "--data", data)
		if err != nil || !strings.Contains(said, c.says) || !strings.Contains(said, "through process") {
			t.Errorf("remove %s %s: %q, %v", c.kind, c.given, said, err)
		}
		if reader.isThere(t, c.id) {
			t.Errorf("the %s %s is still there", c.kind, c.given)
		}
		if said, err := runOnce(t, nil, "remove", c.kind, c.given, "--data", data); err == nil || !strings.Contains(err.Error(), "Nothing was removed") {
			t.Errorf("remove %s %s again: %q, %v", c.kind, c.given, said, err)
		}
	}
	eventually(t, "what the users wrote is gone", patience, func() bool { // the server's projector is at it
		return !reader.isThere(t, comments[2]) && !reader.isThere(t, posts[0])
	})
}

// TestRemoveTakesOneThing holds the command line to what can be removed.
func TestRemoveTakesOneThing(t *testing.T) {
	post := model.EncodeID(blog.Ref{Type: blog.TypePost, PartitionKey: "p_a", ID: "p_a"})
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{}, "name one thing"},
		{[]string{"post"}, "name one thing"},
		{[]string{"feed", post}, "name one thing"},
		{[]string{"post", post, post}, "name one thing"},
		{[]string{"comment", post}, "the id of a Post, not of a Comment"},
		{[]string{"user", "an na"}, "is no id"},
		{[]string{"post", post, "--data", t.TempDir()}, "there is no data"},
	} {
		_, err := runOnce(t, nil, append([]string{"remove"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c.args, err)
		}
	}
}
