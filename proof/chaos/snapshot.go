package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cosmosblog/proof/chaos/contract"
)

// settleTimeout is how long the last deletions and renames may take. A deletion takes about a
// minute.
const settleTimeout = 3 * time.Minute

// check checks the answers of the round, and then the state at its end, until it is settled. It
// returns the violations as an error, and writes history and state to files.
func (r *round) check(ctx context.Context) error {
	lag := cacheStaleness
	if r.hasFollower {
		lag += maxTrail
	}
	history := r.record.history(lag)
	covered, stale := contract.FeedAnswers(history)
	fmt.Fprintf(r.out, "%d feeds had to show what their own clients had written, or say that they may not: %d did (%d%%)\n",
		covered, stale, 100*stale/max(1, covered))
	violations := contract.CheckOperations(history)
	begun := time.Now()
	var end *contract.Snapshot
	for {
		var err error
		if end, err = r.readSnapshot(ctx); err != nil {
			return err
		}
		unsettled := contract.CheckSnapshot(history, end)
		if len(unsettled) == 0 || time.Since(begun) > settleTimeout {
			violations = append(violations, unsettled...)
			break
		}
		if !wait(ctx, 3*time.Second) {
			return ctx.Err()
		}
	}
	fmt.Fprintf(r.out, "%d users and %d posts, settled %v after the last request; %d violations\n",
		len(end.Users), len(end.Posts), time.Since(begun).Round(time.Second), len(violations))
	if len(violations) == 0 {
		return nil
	}
	return r.fail(violations, map[string]any{"history.json": history, "snapshot.json": end})
}

// fail returns violations as an error, and writes files with the evidence.
func (r *round) fail(violations []contract.Violation, evidence map[string]any) error {
	errs := []error{fmt.Errorf("%d violations of the contract", len(violations))}
	for i, v := range violations {
		if i < 40 {
			errs = append(errs, errors.New(v.String()))
		}
	}
	for name, value := range evidence {
		text, err := json.MarshalIndent(value, "", "\t")
		errs = append(errs, err, os.WriteFile(filepath.Join(r.folder, name), text, 0o600))
	}
	return errors.Join(errs...)
}

// readSnapshot reads the state of this round.
func (r *round) readSnapshot(ctx context.Context) (*contract.Snapshot, error) {
	var users, posts []string
	for _, p := range r.record.people {
		if p.id != "" {
			users = append(users, p.id)
		}
	}
	for _, i := range r.record.posts {
		posts = append(posts, i.id)
	}
	a := api{url: r.people[0].servers[0], client: r.people[0].client}
	return readSnapshot(ctx, a, users, posts, slices.Collect(maps.Keys(r.record.usernames)))
}

// pageLength is the maximum number of ids and the maximum page size of the API.
const pageLength = 100

// readSnapshot reads users, usernames and posts, as far as they exist, with all their lists and the
// feed. It also reads the posts that it finds in lists.
func readSnapshot(ctx context.Context, a api, users, posts, usernames []string) (*contract.Snapshot, error) {
	s := &contract.Snapshot{Names: map[string]string{}, Lists: map[string][]contract.Post{}}
	var feed struct {
		Feed struct{ Nodes []contract.Post }
	}
	if err := a.execute(ctx, `{ feed(first: 100) { nodes `+contract.CardFields+` } }`, nil, &feed); err != nil {
		return nil, err
	}
	s.Feed = feed.Feed.Nodes
	for _, id := range users {
		if err := readUser(ctx, a, id, s); err != nil {
			return nil, err
		}
	}
	for _, list := range append(slices.Collect(maps.Values(s.Lists)), s.Feed) {
		for _, p := range list {
			posts = append(posts, p.ID)
		}
	}
	for _, username := range usernames {
		var got struct{ UserByUsername *contract.User }
		err := a.execute(ctx, `query ($n: String!) { userByUsername(username: $n) { id } }`, values{"n": username}, &got)
		if err != nil {
			return nil, err
		}
		if got.UserByUsername != nil {
			s.Names[username] = got.UserByUsername.ID
		}
	}
	posts = slices.Sorted(slices.Values(posts))
	return s, readPosts(ctx, a, slices.Compact(posts), s)
}

// page is the position of a page of a list.
type page struct {
	HasNextPage bool
	EndCursor   *string
}

// readUser adds a user with their list of posts, if the user exists.
func readUser(ctx context.Context, a api, id string, s *contract.Snapshot) error {
	for next := (page{HasNextPage: true}); next.HasNextPage; {
		var got struct {
			User *struct {
				contract.User
				Posts struct {
					Nodes    []contract.Post
					PageInfo page
				}
			}
		}
		err := a.execute(ctx, `query ($id: ID!, $after: String) { user(id: $id) { id username postCount
			posts(first: 100, after: $after) { nodes `+contract.CardFields+` pageInfo { hasNextPage endCursor } } } }`,
			values{"id": id, "after": next.EndCursor}, &got)
		if err != nil || got.User == nil {
			return err
		}
		if next.EndCursor == nil {
			s.Users = append(s.Users, got.User.User)
		}
		s.Lists[id] = append(s.Lists[id], got.User.Posts.Nodes...)
		next = got.User.Posts.PageInfo
	}
	return nil
}

// readPosts adds the posts that exist, with all their comments and likes.
func readPosts(ctx context.Context, a api, ids []string, s *contract.Snapshot) error {
	for chunk := range slices.Chunk(ids, pageLength) {
		var got struct{ Nodes []*contract.Post }
		err := a.execute(ctx, `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Post `+contract.PostFields+` } }`,
			values{"ids": chunk}, &got)
		if err != nil {
			return err
		}
		for _, p := range got.Nodes {
			if p == nil {
				continue
			}
			s.Posts = append(s.Posts, contract.FinalPost{Post: *p})
			if err := readLists(ctx, a, &s.Posts[len(s.Posts)-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readLists reads the comments and likes of a post. There are fewer accounts than likes in a page.
func readLists(ctx context.Context, a api, p *contract.FinalPost) error {
	for next := (page{HasNextPage: true}); next.HasNextPage; {
		var got struct {
			Post *struct {
				Comments struct {
					Nodes    []contract.Comment
					PageInfo page
				}
				Likes struct {
					Nodes []struct{ User contract.User }
				}
			}
		}
		err := a.execute(ctx, `query ($id: ID!, $after: String) { post(id: $id) {
			comments(first: 100, after: $after) { nodes `+contract.CommentFields+` pageInfo { hasNextPage endCursor } }
			likes(first: 100) { nodes { user`+contract.UserFields+`} } } }`, values{"id": p.ID, "after": next.EndCursor}, &got)
		if err != nil || got.Post == nil {
			return err
		}
		p.Comments = append(p.Comments, got.Post.Comments.Nodes...)
		p.Likes = nil
		for _, like := range got.Post.Likes.Nodes {
			p.Likes = append(p.Likes, like.User)
		}
		next = got.Post.Comments.PageInfo
	}
	return nil
}
