package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// shortPost holds the fields of a post that views copy.
type shortPost struct {
	ID, Title, Excerpt      string
	CommentCount, LikeCount int
	Version                 int
	CreationDate            string
	UpdatedDate             *string
	Author                  struct{ ID, Username string }
}

func (s shortPost) String() string {
	updated := "never"
	if s.UpdatedDate != nil {
		updated = *s.UpdatedDate
	}
	return fmt.Sprintf("%s %q %q by %s %s, %d comments, %d likes, version %d, %s, updated %s",
		s.ID, s.Title, s.Excerpt, s.Author.ID, s.Author.Username, s.CommentCount, s.LikeCount, s.Version, s.CreationDate, updated)
}

const shortPostFields = `{ id title excerpt commentCount likeCount version creationDate updatedDate author { id username } }`

// source is the state that the views must show: all existing users and posts, newest first.
type source struct {
	usernames map[string]string
	posts     []shortPost
}

// pageLength is the maximum number of ids and the maximum page size of the API.
const pageLength = 100

// readSource reads every user and every post that was ever created.
func readSource(ctx context.Context, a api, b *history) (source, error) {
	t := source{usernames: map[string]string{}}
	for id := range b.users {
		var got struct {
			User *struct{ ID, Username string }
		}
		if err := a.execute(ctx, `query ($id: ID!) { user(id: $id) { id username } }`, values{"id": id}, &got); err != nil {
			return t, err
		}
		if got.User != nil {
			t.usernames[id] = got.User.Username
		}
	}
	for ids := range slices.Chunk(b.posts, pageLength) {
		var got struct{ Nodes []*shortPost }
		query := `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Post ` + shortPostFields + ` } }`
		if err := a.execute(ctx, query, values{"ids": ids}, &got); err != nil {
			return t, err
		}
		for _, post := range got.Nodes {
			if post != nil {
				t.posts = append(t.posts, *post)
			}
		}
	}
	slices.SortFunc(t.posts, func(a, b shortPost) int {
		return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	return t, nil
}

// difference describes the first view that differs from the source. It returns "" if all views
// are equal.
func (t source) difference(ctx context.Context, a api) (string, error) {
	for _, post := range t.posts {
		if name, ok := t.usernames[post.Author.ID]; !ok || name != post.Author.Username {
			return fmt.Sprintf("the user %s has the name %q (found: %t), but their post is %v",
				post.Author.ID, name, ok, post), nil
		}
	}
	var got struct{ Feed struct{ Nodes []shortPost } }
	if err := a.execute(ctx, `{ feed(first: 100) { nodes `+shortPostFields+` } }`, nil, &got); err != nil {
		return "", err
	}
	if found := firstDifference("the feed", got.Feed.Nodes, t.posts[:min(pageLength, len(t.posts))]); found != "" {
		return found, nil
	}
	for id := range t.usernames {
		if found, err := t.userDifference(ctx, a, id); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// userDifference compares a user's list of posts and their post count.
func (t source) userDifference(ctx context.Context, a api, id string) (string, error) {
	want := slices.DeleteFunc(slices.Clone(t.posts), func(post shortPost) bool { return post.Author.ID != id })
	var list []shortPost
	for after := (*string)(nil); ; {
		var got struct {
			User *struct {
				PostCount int
				Posts     struct {
					Nodes    []shortPost
					PageInfo struct {
						HasNextPage bool
						EndCursor   *string
					}
				}
			}
		}
		err := a.execute(ctx, `query ($id: ID!, $after: String) {
			user(id: $id) {
				postCount
				posts(first: 100, after: $after) { nodes `+shortPostFields+` pageInfo { hasNextPage endCursor } }
			}
		}`, values{"id": id, "after": after}, &got)
		if err != nil {
			return "", err
		}
		if got.User == nil {
			return "the user " + id + " is missing", nil
		}
		list = append(list, got.User.Posts.Nodes...)
		if got.User.PostCount != len(want) {
			return fmt.Sprintf("the user %s has %d posts, but the post count %d", id, len(want), got.User.PostCount), nil
		}
		if !got.User.Posts.PageInfo.HasNextPage {
			return firstDifference("the list of "+id, list, want), nil
		}
		after = got.User.Posts.PageInfo.EndCursor
	}
}

func firstDifference(list string, got, want []shortPost) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%s has %d posts; missing: %v", list, len(got), want[i])
		case i >= len(want):
			return fmt.Sprintf("%s has a surplus post: %v", list, got[i])
		case got[i].String() != want[i].String():
			return fmt.Sprintf("%s has at %d\n%v\nwant\n%v", list, i, got[i], want[i])
		}
	}
	return ""
}
