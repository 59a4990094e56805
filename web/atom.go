package web

import (
	"encoding/xml"
	"net/http"
)

// AtomPath is the path of the Atom feed of the most recent posts.
const AtomPath = "/feed.xml"

// atomPost is a post of the query AtomFeed.
type atomPost struct {
	ID, Title, Excerpt        string
	Author                    struct{ Username string }
	Tags                      []struct{ Name string }
	CreationDate, UpdatedDate string // the latter is empty if the post was never edited
}

// The elements of Atom (RFC 4287).
type (
	atomDocument struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Title   string      `xml:"title"`
		ID      string      `xml:"id"`
		Updated string      `xml:"updated"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	atomEntry struct {
		Title      string         `xml:"title"`
		ID         string         `xml:"id"`
		Link       atomLink       `xml:"link"`
		Author     string         `xml:"author>name"`
		Published  string         `xml:"published"`
		Updated    string         `xml:"updated"`
		Categories []atomCategory `xml:"category"`
		Summary    string         `xml:"summary"`
	}
	atomCategory struct {
		Term string `xml:"term,attr"`
	}
)

// atomFeed returns the most recent posts in Atom. The id of a post is its address. If the posts
// could not be read, the page has the status of the query, or 503, and the answer as its body.
func atomFeed(origin string, query Query) Page {
	read, body := readData(query, "AtomFeed", map[string]any{})
	if read.status != http.StatusOK {
		return Page{Status: read.status, ContentType: "application/json; charset=utf-8", Body: body}
	}
	feed := atomDocument{
		Title:   "cosmosblog",
		ID:      origin + "/",
		Updated: "1970-01-01T00:00:00Z", // as long as there is no post
		Links:   []atomLink{{"self", origin + AtomPath}, {"alternate", origin + "/"}},
	}
	for _, post := range read.Data.Feed.Nodes {
		entry := atomEntry{
			Title:     post.Title,
			ID:        origin + "/posts/" + post.ID,
			Link:      atomLink{"alternate", origin + "/posts/" + post.ID},
			Author:    post.Author.Username,
			Published: post.CreationDate,
			Updated:   max(post.CreationDate, post.UpdatedDate), // timestamps sort as strings
			Summary:   withoutMarks(post.Excerpt),
		}
		for _, tag := range post.Tags {
			entry.Categories = append(entry.Categories, atomCategory{tag.Name})
		}
		feed.Updated = max(feed.Updated, entry.Updated)
		feed.Entries = append(feed.Entries, entry)
	}
	text, err := xml.MarshalIndent(feed, "", "  ")
	if err != nil {
		panic("web: " + err.Error()) // all members are texts
	}
	return Page{Status: http.StatusOK, ContentType: atomType, Body: append([]byte(xml.Header), text...)}
}
