//go:build ci

package graphqljs_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"cosmosblog/guard/limits"
	"cosmosblog/store"
)

// edge is an element of a list.
type edge struct {
	Cursor string `json:"cursor"`
	ID     string `json:"id"`
}

// list is a list of posts with its name: that of a tag or a month.
type list struct {
	Name  string `json:"name,omitempty"`
	Month string `json:"month,omitempty"`
	Posts []edge `json:"posts"`
}

// snapshot is all data of a server, as its API shows it. resolvers.js answers over it.
type snapshot struct {
	Feed []edge `json:"feed"`
	// Published is the first message of postPublished. Its cursor is not that of the feed.
	Published edge                      `json:"published"`
	Tags      []list                    `json:"tags"`
	Months    []list                    `json:"months"`
	Users     map[string]map[string]any `json:"users"`
	Posts     map[string]map[string]any `json:"posts"`
	Comments  map[string]map[string]any `json:"comments"`
	Likes     map[string]map[string]any `json:"likes"`
}

// object is a JSON object.
type object = map[string]any

// at returns the member of an object that a path of names leads to.
func at[T any](o any, path ...string) T {
	for _, name := range path {
		o = o.(object)[name]
	}
	found, _ := o.(T)
	return found
}

// edgesOf returns the edges of a connection, which has the next page too.
func edgesOf(connection any) (edges []edge) {
	for _, e := range at[[]any](connection, "edges") {
		edges = append(edges, edge{at[string](e, "cursor"), at[string](e, "node", "id")})
	}
	if at[bool](connection, "pageInfo", "hasNextPage") {
		panic("the list has more than one page")
	}
	return edges
}

// takeSnapshot reads all data with plain documents, without limits of prices and sizes.
func (s *server) takeSnapshot() *snapshot {
	s.Helper()
	l := limits.Default()
	l.Cost, l.Elements = 0, 1_000_000
	unlimited := &server{T: s.T, url: s.serve(store.New(s.db), l)}
	get := func(query string) object {
		s.Helper()
		r := unlimited.send(&document{Query: query, Kind: "query"}, "")
		var data object
		if err := json.Unmarshal(r.Data, &data); err != nil || len(r.Codes) > 0 {
			s.Fatalf("%s: %v %.1000s", query, err, r.Body)
		}
		return data
	}
	const page = `{ edges { cursor node { id } } pageInfo { hasNextPage } }`
	all := get(`{ feed(first: 100) ` + page + ` tags(first: 100) { name postCount posts(first: 100) ` + page + ` }
		archiveMonths(first: 100) { month postCount posts(first: 100) ` + page + ` } }`)
	taken := &snapshot{
		Feed: edgesOf(all["feed"]), Users: map[string]map[string]any{}, Posts: map[string]map[string]any{},
		Comments: map[string]map[string]any{}, Likes: map[string]map[string]any{},
	}
	for _, tag := range at[[]any](all, "tags") {
		taken.Tags = append(taken.Tags, list{Name: at[string](tag, "name"), Posts: edgesOf(at[any](tag, "posts"))})
	}
	var users []string
	addUser := func(id string) string {
		if !slices.Contains(users, id) {
			users = append(users, id)
		}
		return id
	}
	for _, month := range at[[]any](all, "archiveMonths") {
		m := list{Month: at[string](month, "month"), Posts: edgesOf(at[any](month, "posts"))}
		taken.Months = append(taken.Months, m)
		for _, e := range m.Posts {
			post := at[object](get(fmt.Sprintf(`{ post(id: %q) { id title content contentLength excerpt author { id } tags { name }
				commentCount recentComments { id } likeCount creationDate updatedDate version viewerHasLiked previousByAuthor { id }
				oldest: comments(first: 100) { edges { cursor node { id content excerpt author { id } creationDate updatedDate post { id } } } pageInfo { hasNextPage } }
				newest: comments(first: 100, order: NEWEST_FIRST) %s
				likes(first: 100) { edges { cursor node { id user { id } creationDate post { id } } } pageInfo { hasNextPage } } } }`, e.ID, page)), "post")
			taken.addPost(e.ID, post, addUser)
		}
	}
	r := s.send(&document{Query: `subscription { postPublished(after: "") { cursor node { id } } }`, Kind: "subscription"}, "")
	var first object
	if err := json.Unmarshal(r.Data, &first); err != nil || len(r.Codes) > 0 {
		s.Fatalf("%v %.1000s", err, r.Body)
	}
	taken.Published = edge{at[string](first, "postPublished", "cursor"), at[string](first, "postPublished", "node", "id")}
	for _, id := range users {
		user := at[object](get(fmt.Sprintf(`{ user(id: %q) { id username creationDate postCount posts(first: 100) %s } }`, id, page)), "user")
		user["posts"] = append([]edge{}, edgesOf(user["posts"])...)
		taken.Users[id] = user
	}
	return taken
}

// addPost adds a post with its comments and likes, as resolvers.js expects them. addUser adds a
// user, and returns its id.
func (taken *snapshot) addPost(id string, post object, addUser func(id string) string) {
	for _, of := range []struct {
		list, person string
		to           map[string]map[string]any
	}{{"oldest", "author", taken.Comments}, {"likes", "user", taken.Likes}} {
		for _, found := range at[[]any](post, of.list, "edges") {
			node := at[object](found, "node")
			node[of.person], node["post"] = addUser(at[string](node, of.person, "id")), id
			of.to[at[string](node, "id")] = node
		}
	}
	var tags, recent []string
	for _, tag := range at[[]any](post, "tags") {
		tags = append(tags, at[string](tag, "name"))
	}
	for _, comment := range at[[]any](post, "recentComments") {
		recent = append(recent, at[string](comment, "id"))
	}
	post["tagNames"], post["recentComments"] = append([]string{}, tags...), append([]string{}, recent...)
	delete(post, "tags")
	post["author"] = addUser(at[string](post, "author", "id"))
	if post["previousByAuthor"] != nil {
		post["previousByAuthor"] = at[string](post, "previousByAuthor", "id")
	}
	for _, name := range []string{"oldest", "newest", "likes"} {
		post[name] = append([]edge{}, edgesOf(post[name])...)
	}
	taken.Posts[id] = post
}
