package seed

import (
	"cmp"
	"slices"
	"time"

	"cosmosblog/internal/blog"
)

// Set is a data set. It may be used concurrently: it does not change.
type Set struct {
	seed   uint64
	people []person
}

// The article's shape: "a user has 5 to 50 posts, a post up to 25 comments and up to 100 likes". Nobody likes a post
// twice, so that few users give few likes.
const (
	minPosts    = 5
	maxPosts    = 50
	maxComments = 25
	maxLikes    = 100
)

// All of a data set happens between these two moments, whenever it is written: dates that followed the clock would make
// another set of it each time. People join until half a year before its end.
var (
	beginning = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	lastJoins = time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
	end       = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// person is a user before anything is written.
type person struct {
	id       string
	username string
	joined   time.Time
}

// New makes the data set of a seed and a number of users. Sets that differ in either have no item in common. issuer is
// who the users' accounts are of; Subject tells their subjects.
func New(issuer string, seed uint64, users int) *Set {
	s := &Set{seed: seed, people: make([]person, users)}
	for n := range s.people {
		s.people[n] = s.person(issuer, n)
	}
	return s
}

// Users is how many users the set has. They are numbered from 0.
func (s *Set) Users() int { return len(s.people) }

// User gives a user as the set has them, without a Revision.
func (s *Set) User(n int) *blog.User {
	p := s.people[n]
	return &blog.User{ID: p.id, Username: p.username, CreationDate: blog.NewDateTime(p.joined)}
}

func (s *Set) person(issuer string, n int) person {
	r := s.stream("person", n)
	account := blog.Account{Issuer: issuer, Subject: Subject(s.seed, len(s.people), n)}
	return person{account.UserID(), s.username(n), r.between(beginning, lastJoins)}
}

// Heading is what tells a post of the set, and how much there is to it.
type Heading struct {
	Author   int // the user's number
	Number   int // among the author's posts, from 0
	Date     time.Time
	Comments int
	Likes    int
}

// Items is how many items the post, its comments and its likes are, without the copies.
func (h Heading) Items() int { return 1 + h.Comments + h.Likes }

// Headings gives a user's posts, in no order.
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

// Size counts the posts of the set, and its items with those that stand for users, usernames and short copies; the feed
// is not among them.
func (s *Set) Size() (posts, items int) {
	for n := range s.people {
		for _, h := range s.Headings(n) {
			posts++
			items += h.Items() + 1
		}
	}
	return posts, items + 2*len(s.people)
}

// Newest gives the newest posts of the set, at most so many, the oldest of them first.
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
