package web

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"cosmosblog/blog"
)

// view is one kind of page of the blog, as the program's App.tsx shows it.
type view struct {
	path      string // its parts in braces are parameters
	canonical string // the path of the page that has the content too, if there is one
	title     string // unless its data say it
	queries   []viewQuery
}

// viewQuery is a query that a view sends first. Its variables are those of the program.
type viewQuery struct {
	operation string
	isList    bool              // the query has the variable isFirst
	names     map[string]string // the variables that are parameters
	// describe sets what the head says, for the parameters of a path. It returns false if the
	// object does not exist.
	describe func(data, map[string]string, *head) bool
}

var views = []*view{
	{path: "/", title: "Recent posts", queries: []viewQuery{{operation: "Feed"}}},
	{path: "/posts/{id}", queries: []viewQuery{postQuery, nextPostQuery}},
	{path: "/posts/{id}/comments/{comment}", canonical: "/posts/{id}", queries: []viewQuery{
		postQuery, nextPostQuery,
		{operation: "LinkedComment", names: map[string]string{"id": "comment"}, describe: describeComment},
	}},
	{path: "/posts/{id}/edit", title: "Edit post"},
	{path: "/users/{id}", queries: []viewQuery{{operation: "User", names: sameNames("id"), describe: describeUser}}},
	{path: "/tags/{name}", queries: []viewQuery{{operation: "Tag", isList: true, names: sameNames("name"), describe: describeTag}}},
	{path: "/archive", title: "Archive", queries: []viewQuery{{operation: "Archive", isList: true}}},
	{path: "/archive/{month}", queries: []viewQuery{{operation: "Month", isList: true, names: sameNames("month"), describe: describeMonth}}},
	{path: "/models", title: "Four models, side by side"},
	{path: "/write", title: "New post"},
	{path: "/sign-in", title: "Sign in"},
}

var (
	postQuery     = viewQuery{operation: "Post", names: sameNames("id"), describe: describePost}
	nextPostQuery = viewQuery{operation: "NextPost", names: sameNames("id")}
)

func sameNames(name string) map[string]string { return map[string]string{name: name} }

// variables returns the variables of a query for the parameters of a path.
func (q viewQuery) variables(parameters map[string]string) map[string]any {
	variables := map[string]any{}
	if q.isList {
		variables["isFirst"] = true
	}
	for name, parameter := range q.names {
		variables[name] = parameters[parameter]
	}
	return variables
}

// findView returns the view of an escaped path, and its parameters; nil if there is none.
func findView(path string) (*view, map[string]string) {
	given := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for _, v := range views {
		parts := strings.Split(strings.TrimSuffix(v.path, "/"), "/")
		parameters := map[string]string{}
		isOf := len(parts) == len(given)
		for i := 0; isOf && i < len(parts); i++ {
			text, err := url.PathUnescape(given[i])
			if name, isParameter := strings.CutPrefix(parts[i], "{"); isParameter {
				parameters[strings.TrimSuffix(name, "}")] = text
				isOf = err == nil && text != ""
			} else {
				isOf = text == parts[i]
			}
		}
		if isOf {
			return v, parameters
		}
	}
	return nil, nil
}

// fill returns a path with parameters in place of their names.
func fill(path string, parameters map[string]string) string {
	for name, text := range parameters {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
	}
	return path
}

// data are the fields of the answers from which the server writes heads and the Atom feed.
type data struct {
	Post *struct{ Title, Content string }
	Node *struct {
		Content string
		Author  struct{ Username string }
		Post    *struct{ ID string }
	}
	User *struct{ Username string }
	Tag  *struct {
		Name      string
		PostCount *int
	}
	Archive *struct {
		Month     string
		PostCount *int
	}
	ArchiveMonths []struct{}
	Feed          *struct {
		Edges []struct{}
		Nodes []atomPost
	}
}

// isEmpty reports whether the object of a query is missing.
func (d data) isEmpty() bool {
	return d.Post == nil && d.Node == nil && d.User == nil && d.Tag == nil && d.Archive == nil && d.ArchiveMonths == nil && d.Feed == nil
}

func describePost(d data, _ map[string]string, h *head) bool {
	if d.Post == nil {
		h.title = "There is no such post"
		return false
	}
	h.title, h.description = d.Post.Title, withoutMarks(blog.Excerpt(d.Post.Content))
	return true
}

func describeComment(d data, parameters map[string]string, h *head) bool {
	if d.Node == nil || d.Node.Post == nil || d.Node.Post.ID != parameters["id"] {
		return false
	}
	h.title, h.description = "Comment on "+h.title, d.Node.Author.Username+": "+withoutMarks(blog.Excerpt(d.Node.Content))
	return true
}

func describeUser(d data, _ map[string]string, h *head) bool {
	if d.User == nil {
		h.title = "There is no such user"
		return false
	}
	h.title, h.description = d.User.Username, "The posts of "+d.User.Username
	return true
}

func describeTag(d data, _ map[string]string, h *head) bool {
	if d.Tag == nil {
		h.title = "There is no such tag"
		return false
	}
	h.title = "Posts with the tag “" + d.Tag.Name + "”"
	h.description = h.title
	return hasPosts(d.Tag.PostCount)
}

func describeMonth(d data, _ map[string]string, h *head) bool {
	if d.Archive == nil {
		h.title = "There is no such month"
		return false
	}
	month := d.Archive.Month
	if start, err := time.Parse("2006-01", month); err == nil {
		month = start.Format("January 2006")
	}
	h.title = "Posts of " + month
	h.description = h.title
	return hasPosts(d.Archive.PostCount)
}

// hasPosts returns false if the list of a tag or a month is empty: anybody can make up such an
// address.
func hasPosts(count *int) bool { return count == nil || *count > 0 }

// document is a document of the blog, with its id.
type document struct{ id, text string }

// documentsByName returns the blog's queries, by the names of their operations.
var documentsByName = sync.OnceValue(func() map[string]document {
	var manifest map[string]string
	if err := json.Unmarshal(documents, &manifest); err != nil {
		panic("web: " + err.Error()) // the file is embedded
	}
	byName := map[string]document{}
	for id, text := range manifest {
		if name := queryName.FindStringSubmatch(text); name != nil {
			byName[name[1]] = document{id, text}
		}
	}
	return byName
})

var queryName = regexp.MustCompile(`\bquery (\w+)`)
