package seed_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/store/bulk"
	"cosmosblog/store/schema"
	"cosmosblog/store/seed"
)

// usersOf returns the set's users as stored in a database without other writers.
func usersOf(set *seed.Set) []*blog.User {
	users := make([]*blog.User, set.Users())
	for n := range users {
		users[n] = set.User(n)
		users[n].Revision = 2
	}
	return users
}

// threadsOf returns all posts of a set, in the order of its users.
func threadsOf(set *seed.Set) []bulk.Thread {
	users := usersOf(set)
	var threads []bulk.Thread
	for n := range users {
		for _, h := range set.Headings(n) {
			threads = append(threads, set.Thread(h, users))
		}
	}
	return threads
}

// fingerprint returns a hash of all data of a set.
func fingerprint(set *seed.Set) string {
	h := sha256.New()
	for _, u := range usersOf(set) {
		fmt.Fprintln(h, u.ID, u.Username, u.CreationDate)
	}
	for _, t := range threadsOf(set) {
		fmt.Fprintln(h, t.Post.ID, t.Post.Author.ID, t.Post.Title, t.Post.Content, t.Post.CreationDate)
		for _, c := range t.Comments {
			fmt.Fprintln(h, c.ID, c.Author.ID, c.Content, c.CreationDate)
		}
		for _, l := range t.Likes {
			fmt.Fprintln(h, l.ID(), l.CreationDate)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// TestSetIsStable compares a set with the one of earlier versions. If they differ, a later
// version cannot resume an interrupted run of an earlier one. Such a change belongs in the
// changelog.
func TestSetIsStable(t *testing.T) {
	if got, want := fingerprint(seed.New("test", 1, 4)), "681525ee512e7214"; got != want {
		t.Errorf("the set of seed 1 with 4 users is %s, and was %s", got, want)
	}
}

func TestSetsHaveNothingInCommon(t *testing.T) {
	seen := map[string]string{}
	for name, set := range map[string]*seed.Set{
		"1 of 6": seed.New("test", 1, 6), "2 of 6": seed.New("test", 2, 6), "1 of 7": seed.New("test", 1, 7), "other": seed.New("other", 1, 6),
	} {
		for _, user := range usersOf(set) {
			if other := seen[user.ID]; other != "" {
				t.Errorf("the sets %s and %s have a user in common", name, other)
			}
			seen[user.ID] = name
		}
		if name == "other" {
			continue // the same texts, of other accounts
		}
		for _, thread := range threadsOf(set) {
			if other := seen[thread.Post.ID]; other != "" {
				t.Errorf("the sets %s and %s have a post in common", name, other)
			}
			seen[thread.Post.ID] = name
		}
	}
}

func TestShape(t *testing.T) {
	set := seed.New("test", 5, 120)
	threads := threadsOf(set)
	posts, items := set.Size()
	if posts != len(threads) {
		t.Errorf("%d posts, but Size returns %d", len(threads), posts)
	}
	var comments, likes, most, long int
	for _, thread := range threads {
		if len(thread.Post.Content) > schema.MaxInlineContent {
			long++
		}
		comments, likes = comments+len(thread.Comments), likes+len(thread.Likes)
		most = max(most, len(thread.Likes))
		if len(thread.Comments) > 25 || len(thread.Likes) > 100 {
			t.Errorf("%d comments and %d likes", len(thread.Comments), len(thread.Likes))
		}
	}
	if want := 2*set.Users() + 2*posts + comments + likes; items != want {
		t.Errorf("%d items, but Size returns %d", want, items)
	}
	// The means are 27.5 posts, 12.5 comments and 50 likes; the bounds are about four standard
	// errors away.
	if mean := float64(posts) / float64(set.Users()); mean < 22.5 || mean > 32.5 {
		t.Errorf("%.1f posts a user", mean)
	}
	if mean := float64(comments) / float64(posts); mean < 12 || mean > 13 {
		t.Errorf("%.1f comments a post", mean)
	}
	if mean := float64(likes) / float64(posts); mean < 48 || mean > 52 || most != 100 {
		t.Errorf("%.1f likes a post, %d at most", mean, most)
	}
	if share := float64(long) / float64(posts); share < 0.015 || share > 0.035 {
		t.Errorf("%.3f of the posts are long", share)
	}
	if few := seed.New("test", 5, 3); slices.ContainsFunc(threadsOf(few), func(t bulk.Thread) bool { return len(t.Likes) > 3 }) {
		t.Error("a post has more likes than the set has users")
	}
}

// TestSetFollowsTheRules checks all texts of a set by the rules of the commands, and the order
// of all dates.
func TestSetFollowsTheRules(t *testing.T) {
	set := seed.New("test", 9, 30)
	joined := map[string]blog.DateTime{}
	for _, user := range usersOf(set) {
		if err := blog.CheckUsername(user.Username); err != nil {
			t.Errorf("%s: %v", user.Username, err)
		}
		joined[user.ID] = user.CreationDate
	}
	for _, thread := range threadsOf(set) {
		post := thread.Post
		if err := blog.Check(blog.CreatePostInput{Title: post.Title, Content: post.Content, Tags: post.Tags}); err != nil {
			t.Errorf("%q: %v", post.Title, err)
		}
		if post.CreationDate <= joined[post.Author.ID] {
			t.Errorf("%s is older than its author", post.ID)
		}
		likers := map[string]bool{}
		visit := func(visitor *blog.User, date blog.DateTime) {
			if date <= post.CreationDate || date <= joined[visitor.ID] || date > "2026-01-01T00:00:00.000000Z" {
				t.Errorf("the visit of %s at %s does not follow the post of %s", visitor.Username, date, post.CreationDate)
			}
		}
		for _, comment := range thread.Comments {
			if err := blog.CheckComment(comment.Content); err != nil {
				t.Errorf("%q: %v", comment.Content, err)
			}
			visit(comment.Author, comment.CreationDate)
		}
		for _, like := range thread.Likes {
			if likers[like.ID()] {
				t.Errorf("%s likes %s twice", like.ID(), post.ID)
			}
			likers[like.ID()] = true
			visit(like.User, like.CreationDate)
		}
	}
}

func TestUsernamesAreUnique(t *testing.T) {
	set := seed.New("test", 3, 40_000) // more than there are pairs of names
	seen := make(map[string]bool, set.Users())
	for n := range set.Users() {
		name := blog.NormalizeUsername(set.User(n).Username)
		if seen[name] || blog.CheckUsername(name) != nil {
			t.Fatalf("user %d has the invalid or duplicate name %s", n, name)
		}
		seen[name] = true
	}
}

func TestNewest(t *testing.T) {
	set := seed.New("test", 4, 40)
	var dates []string
	for n := range set.Users() {
		for _, h := range set.Headings(n) {
			dates = append(dates, h.Date.Format("2006-01-02T15:04:05.000000"))
		}
	}
	slices.Sort(dates)
	var got []string
	for _, h := range set.Newest(17) {
		got = append(got, h.Date.Format("2006-01-02T15:04:05.000000"))
	}
	if want := dates[len(dates)-17:]; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
