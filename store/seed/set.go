package seed

import (
	"cmp"
	"slices"
	"time"

	"cosmosblog/blog"
)

// Set is a data set. It is immutable and may be used concurrently.
type Set struct {
	seed   uint64
	people []person
}

// The article's proportions: "a user has 5 to 50 posts, a post up to 25 comments and up to 100
// likes". A user likes a post at most once, so a post has no more likes than the set has users. The
// help of the command seed, the setting users and docs name these numbers.
const (
	minPosts    = 5
	maxPosts    = 50
	maxComments = 25
	maxLikes    = 100
)

// All dates of a data set are between beginning and end. They do not depend on the clock,
// because the set must always be the same. Users join until half a year before the end.
var (
	beginning = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	lastJoins = time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
	end       = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// person is the part of a user that the set determines.
type person struct {
	id       string
	username string
	joined   time.Time
}

// New returns the data set for a seed and a number of users. Sets that differ in either have no
// item in common. The accounts of the users have the given issuer, and the subjects of Subject.
func New(issuer string, seed uint64, users int) *Set {
	s := &Set{seed: seed, people: make([]person, users)}
	for n := range s.people {
		s.people[n] = s.person(issuer, n)
	}
	return s
}

// Users returns the number of users. They are numbered from 0.
func (s *Set) Users() int { return len(s.people) }

// User returns user n without a Revision.
func (s *Set) User(n int) *blog.User {
	p := s.people[n]
	return &blog.User{ID: p.id, Username: p.username, CreationDate: blog.NewDateTime(p.joined)}
}

func (s *Set) person(issuer string, n int) person {
	r := s.stream("person", n)
	account := blog.Account{Issuer: issuer, Subject: Subject(s.seed, len(s.people), n)}
	return person{account.UserID(), s.username(n), r.between(beginning, lastJoins)}
}

// Heading identifies a post of the set, and has its date and its numbers of comments and likes.
type Heading struct {
	Author   int // the user's number
	Number   int // index among the author's posts
	Date     time.Time
	Comments int
	Likes    int
}

// Items returns the number of items of the post, its comments and its likes, without the copies.
func (h Heading) Items() int { return 1 + h.Comments + h.Likes }

// Headings returns the posts of a user, in no particular order.
func (s *Set) Headings(author int) []Heading {
	r := s.stream("headings", author)
	headings := make([]Heading, r.from(minPosts, maxPosts))
	for i := range headings {
		headings[i] = Heading{
			Author:   author,
			Number:   i,
			Date:     r.between(s.people[author].joined.Add(time.Minute), end.Add(-time.Hour)),
			Comments: r.from(0, maxComments),
			Likes:    min(r.from(0, maxLikes), len(s.people)),
		}
	}
	return headings
}

// Size returns the number of posts, and the number of all items: users, usernames, posts,
// comments, likes and short copies, but not the feed.
func (s *Set) Size() (posts, items int) {
	for n := range s.people {
		for _, h := range s.Headings(n) {
			posts++
			items += h.Items() + 1
		}
	}
	return posts, items + 2*len(s.people)
}

// Newest returns the newest posts of the set, at most count, in ascending order of date.
func (s *Set) Newest(count int) []Heading {
	var newest []Heading
	for n := range s.people {
		if newest = append(newest, s.Headings(n)...); len(newest) > 8*count {
			newest = newestOf(newest, count)
		}
	}
	newest = newestOf(newest, count)
	slices.Reverse(newest)
	return newest
}

func newestOf(headings []Heading, count int) []Heading {
	slices.SortFunc(headings, func(a, b Heading) int {
		return cmp.Or(b.Date.Compare(a.Date), cmp.Compare(a.Author, b.Author), cmp.Compare(a.Number, b.Number))
	})
	return headings[:min(count, len(headings))]
}
