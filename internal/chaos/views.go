package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// shown is what a list shows of a post, and all of it follows from the post itself.
type shown struct {
	ID, Title, Excerpt      string
	CommentCount, LikeCount int
	Version                 int
	CreationDate            string
	UpdatedDate             *string
	Author                  struct{ ID, Username string }
}

func (s shown) String() string {
	updated := "never"
	if s.UpdatedDate != nil {
		updated = *s.UpdatedDate
	}
	return fmt.Sprintf("%s %q %q of %s %s, %d comments, %d likes, version %d, %s, updated %s",
		s.ID, s.Title, s.Excerpt, s.Author.ID, s.Author.Username, s.CommentCount, s.LikeCount, s.Version, s.CreationDate, updated)
}

const shownFields = `{ id title excerpt commentCount likeCount version creationDate updatedDate author { id username } }`

// truth is what the sources say: every user that is there, and every post, newest first.
type truth struct {
	usernames map[string]string
	posts     []shown
}

// pageLength is how many ids the API takes at a time, and how long its pages are.
const pageLength = 100

// readTruth asks for every user and every post that there ever was.
func readTruth(ctx context.Context, a api, b *board) (truth, error) {
	t := truth{usernames: map[string]string{}}
	for id := range b.users {
		var got struct {
			User *struct{ ID, Username string }
		}
		if err := a.ask(ctx, `query ($id: ID!) { user(id: $id) { id username } }`, values{"id": id}, &got); err != nil {
			return t, err
		}
		if got.User != nil {
			t.usernames[id] = got.User.Username
		}
	}
	for ids := range slices.Chunk(b.posts, pageLength) {
		var got struct{ Nodes []*shown }
		if err := a.ask(ctx, `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Post `+shownFields+` } }`, values{"ids": ids}, &got); err != nil {
			return t, err
		}
		for _, post := range got.Nodes {
			if post != nil {
				t.posts = append(t.posts, *post)
			}
		}
	}
	slices.SortFunc(t.posts, func(a, b shown) int {
		return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	return t, nil
}

// difference gives a sentence about the first view that is not as its source says; empty where all are.
func (t truth) difference(ctx context.Context, a api) (string, error) {
	for _, post := range t.posts {
		if name, ok := t.usernames[post.Author.ID]; !ok || name != post.Author.Username {
			return fmt.Sprintf("the user %s bears the name %q (there: %t), and their post is %v", post.Author.ID, name, ok, post), nil
		}
	}
	var got struct{ Feed struct{ Nodes []shown } }
	if err := a.ask(ctx, `{ feed(first: 100) { nodes `+shownFields+` } }`, nil, &got); err != nil {
		return "", err
	}
	if found := differ("the feed", got.Feed.Nodes, t.posts[:min(pageLength, len(t.posts))]); found != "" {
		return found, nil
	}
	for id := range t.usernames {
		if found, err := t.ofUser(ctx, a, id); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// ofUser compares a user's list of posts, and their count.
func (t truth) ofUser(ctx context.Context, a api, id string) (string, error) {
	want := slices.DeleteFunc(slices.Clone(t.posts), func(post shown) bool { return post.Author.ID != id })
	var list []shown
	for after := (*string)(nil); ; {
		var got struct {
			User *struct {
				PostCount int
				Posts     struct {
					Nodes    []shown
					PageInfo struct {
						HasNextPage bool
						EndCursor   *string
					}
				}
			}
		}
		err := a.ask(ctx, `query ($id: ID!, $after: String) { user(id: $id) { postCount posts(first: 100, after: $after) { nodes `+shownFields+
			` pageInfo { hasNextPage endCursor } } } }`, values{"id": id, "after": after}, &got)
		if err != nil {
			return "", err
		}
		if got.User == nil {
			return "the user " + id + " is gone", nil
		}
		list = append(list, got.User.Posts.Nodes...)
		if got.User.PostCount != len(want) {
			return fmt.Sprintf("the user %s has %d posts, counted as %d", id, len(want), got.User.PostCount), nil
		}
		if !got.User.Posts.PageInfo.HasNextPage {
			return differ("the list of "+id, list, want), nil
		}
		after = got.User.Posts.PageInfo.EndCursor
	}
}

func differ(list string, got, want []shown) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%s has %d posts, and misses %v", list, len(got), want[i])
		case i >= len(want):
			return fmt.Sprintf("%s has a post too many: %v", list, got[i])
		case got[i].String() != want[i].String():
			return fmt.Sprintf("%s has at %d\n%v\nand should have\n%v", list, i, got[i], want[i])
		}
	}
	return ""
}
