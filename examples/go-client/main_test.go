package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestProgram runs the program against the server of this repository, with a temporary data folder.
func TestProgram(t *testing.T) {
	s := newSite(t)
	s.serve()
	s.signIn("anna")

	s.want("You are anna", "join", "anna")
	var posts []string
	for i := range 7 {
		posts = append(posts, s.ask("publish", fmt.Sprint("Title ", i), "Content"))
	}
	s.want("Title 6 has 1 like", "like", posts[6])
	s.want("Title 6 has 1 like", "like", posts[6]) // a like counts once
	s.want("The post has 1 comment", "comment", posts[6], "The first")

	page := strings.Split(s.ask("feed", "-first", "3"), "\n")
	if want := posts[6] + "  Title 6, by anna: 1 like, 1 comment"; len(page) != 4 || page[0] != want || page[3] != "There are more posts." {
		t.Errorf("the first page is %q, want three posts from %q", page, want)
	}
	all := strings.Split(s.ask("feed", "-first", "3", "-all"), "\n")
	slices.Reverse(all) // from the oldest post
	for i, post := range posts {
		if len(all) != len(posts) || !strings.HasPrefix(all[i], post+"  Title "+fmt.Sprint(i)) {
			t.Fatalf("all pages have %q, want the posts %q", all, posts)
		}
	}
}

// TestErrors checks that an error is printed with its code, and with its field if it has one.
func TestErrors(t *testing.T) {
	s := newSite(t)
	s.serve()
	s.wantError("UNAUTHENTICATED: ", "join", "anna")
	s.wantError("BAD_USER_INPUT in first: ", "feed", "-first", "-1")
	s.signIn("anna")
	s.wantError("USER_REQUIRED: ", "publish", "Title", "Content")
	s.wantError("BAD_USER_INPUT in input.username: ", "join", "a")
	s.ask("join", "anna")
	s.wantError("BAD_USER_INPUT in input.content: ", "publish", "", "")
	s.wantError("BAD_USER_INPUT in id: ", "live", "unknown")
	s.wantError("the command is not one of these", "like")
	s.token = "invalid"
	s.wantError("UNAUTHENTICATED: ", "feed") // with the status 401
}

// TestLive checks that comments of another client arrive, once and in order, also those that are
// written while the program has no server, and that the program ends with the post.
func TestLive(t *testing.T) {
	s := newSite(t)
	server := s.serve()
	s.signIn("anna")
	s.ask("join", "anna")
	post := s.ask("publish", "Title", "Content")

	live := s.start("go-client", "-url", s.url, "live", post)
	live.waitFor("Title")
	live.waitFor("Waiting for comments")
	s.comment(post, "before")
	live.waitFor("anna: before")

	server.kill()
	live.waitFor("Connecting again")
	server = s.serve()
	s.comment(post, "meanwhile")
	live.waitFor("Waiting for comments")
	s.comment(post, "after")
	live.waitFor("anna: after")

	server.stop() // as for an update
	s.serve()
	s.comment(post, "last")
	live.waitFor("anna: last")
	s.send(fmt.Sprintf(`mutation { deletePost(input: {id: %q}) { post { id } } }`, post))
	live.waitFor("The post was deleted.")
	if err := live.wait(); err != nil {
		t.Error(err)
	}
	var comments []string
	for _, line := range live.lines {
		if _, comment, found := strings.Cut(line, "  anna: "); found {
			comments = append(comments, comment)
		}
	}
	if want := []string{"before", "meanwhile", "after", "last"}; !slices.Equal(comments, want) {
		t.Errorf("the comments are %q, want %q", comments, want)
	}
}

// TestInvalidSubscription checks that the message of the type error becomes an answer.
func TestInvalidSubscription(t *testing.T) {
	s := newSite(t)
	s.serve()
	var cursor string
	err := blog{url: s.url}.follow(t.Context(), "unknown", &cursor)
	if got := describe(err); !strings.HasPrefix(got, "BAD_USER_INPUT in postId: ") {
		t.Errorf("the error is %q", got)
	}
	if err := (blog{url: s.url, token: "invalid"}).follow(t.Context(), "unknown", &cursor); err == nil || !strings.Contains(err.Error(), "4403") {
		t.Errorf("the error of an invalid token is %v", err)
	}
}
