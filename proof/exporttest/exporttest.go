// Package exporttest compares an export with its database.
package exporttest

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/export"
	"cosmosblog/store/schema"
)

// State is what a blog has at one moment: a text for each row, by its table and key. Rows have
// no Sequence. Comments, tags and likes are those of posts that exist.
type State map[string]string

// Deleted is the text of a user, post or comment that is deleted.
const Deleted = "deleted"

func (s State) add(table, key string, row any) { s[table+" "+key] = fmt.Sprintf("%+v", row) }

// text makes two equal optional values have equal texts.
func text[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// addUser and the other methods of its kind add one row.
func (s State) addUser(row export.User) {
	if row.Deleted {
		s["users "+row.UserID] = Deleted
		return
	}
	s.add("users", row.UserID, []any{text(row.Username), row.CreationDate, row.Changed})
}

func (s State) addPost(row export.Post) {
	if row.Deleted {
		s["posts "+row.PostID] = Deleted
		return
	}
	s.add("posts", row.PostID, []any{row.AuthorID, row.PostHead, text(row.Content), row.ContentBytes, row.ContentCharacters,
		row.CommentCount, row.LikeCount, row.CreationDate, text(row.UpdatedDate), row.Version, row.Changed})
}

func (s State) addComment(row export.Comment) {
	key := row.PostID + " " + row.CommentID
	if row.Deleted {
		s["comments "+key] = Deleted
		return
	}
	s.add("comments", key, []any{row.AuthorID, text(row.Content), row.CreationDate, text(row.UpdatedDate), row.Changed})
}

func (s State) addTag(postID, name string) { s.add("tags", postID+" "+name, "") }

func (s State) addLike(row export.Like) { s.add("likes", row.PostID+" "+row.UserID, row.CreationDate) }

// Read returns the latest state of an export: of each key, the row with the greatest Sequence. It
// fails if two rows of a key have the same one, or a post has the content of another state.
func Read(folder string) (State, error) {
	users, err := latest(folder, export.UsersTable, func(r export.User) (string, int64) { return r.UserID, r.Sequence })
	if err != nil {
		return nil, err
	}
	posts, err := latest(folder, export.PostsTable, func(r export.Post) (string, int64) { return r.PostID, r.Sequence })
	if err != nil {
		return nil, err
	}
	comments, err := latest(folder, export.CommentsTable, func(r export.Comment) (string, int64) {
		return r.PostID + " " + r.CommentID, r.Sequence
	})
	if err != nil {
		return nil, err
	}
	tags, err := rows[export.Tag](folder, export.TagsTable)
	if err != nil {
		return nil, err
	}
	likes, err := rows[export.Like](folder, export.LikesTable)
	if err != nil {
		return nil, err
	}
	s := State{}
	for _, row := range users {
		s.addUser(row)
	}
	for _, row := range posts {
		if row.Content != nil && row.ContentBytes != int64(len(*row.Content)) {
			return nil, fmt.Errorf("the post %s has %d bytes of content, and should have %d", row.PostID, len(*row.Content), row.ContentBytes)
		}
		s.addPost(row)
	}
	exists := func(postID string) bool { post, ok := posts[postID]; return ok && !post.Deleted }
	for _, row := range comments {
		if exists(row.PostID) {
			s.addComment(row)
		}
	}
	for _, row := range tags {
		if exists(row.PostID) && posts[row.PostID].Sequence == row.Sequence {
			s.addTag(row.PostID, row.Name)
		}
	}
	listed := map[likeKey]bool{}
	for _, row := range likes {
		if key := (likeKey{row.PostID, row.UserID, row.Sequence}); !listed[key] {
			listed[key] = true
		} else {
			return nil, fmt.Errorf("likes has two equal rows: %+v", row)
		}
		if exists(row.PostID) && posts[row.PostID].Sequence == row.Sequence {
			s.addLike(row)
		}
	}
	return s, nil
}

type likeKey struct {
	postID, userID string
	sequence       int64
}

// rows reads all rows of a table. It fails if a row is in the folder of another date.
func rows[T any](folder, table string) (all []T, err error) {
	names, err := fs.Glob(os.DirFS(folder), table+"/date=*/*.parquet")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		read, err := parquet.ReadFile[T](path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		date := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "date=")
		for _, row := range read {
			if changed := changedOf(row); changed != "" && changed != date {
				return nil, fmt.Errorf("%s has a row of %s", path, changed)
			}
		}
		all = append(all, read...)
	}
	return all, nil
}

// changedOf returns the date of Changed. It is empty for rows without one, and for posts, whose
// rows can have a later state than the page of the change feed.
func changedOf(row any) string {
	var changed int64
	switch row := row.(type) {
	case export.User:
		changed = row.Changed
	case export.Comment:
		changed = row.Changed
	default:
		return ""
	}
	return time.UnixMicro(changed).UTC().Format(time.DateOnly)
}

func latest[T any](folder, table string, key func(T) (string, int64)) (map[string]T, error) {
	all, err := rows[T](folder, table)
	if err != nil {
		return nil, err
	}
	found := map[string]T{}
	for _, row := range all {
		id, sequence := key(row)
		before, ok := found[id]
		_, last := key(before)
		if ok && last == sequence {
			return nil, fmt.Errorf("%s has two rows of %s with the number %d", table, id, sequence)
		}
		if !ok || sequence > last {
			found[id] = row
		}
	}
	return found, nil
}

// Source returns the state of a database that nobody writes, from the items as they are stored.
func Source(ctx context.Context, db *cosmos.DB) (State, error) {
	s := State{}
	items, err := all(ctx, db, schema.Users)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Type == schema.TypeUser && (item.Username != "" || item.Deleted) {
			s.addUser(export.User{UserID: item.ID, Username: &item.Username, CreationDate: micros(item.CreationDate), Deleted: item.Deleted, Changed: item.Timestamp * 1e6})
		}
	}
	if items, err = all(ctx, db, schema.Posts); err != nil {
		return nil, err
	}
	posts := map[string]stored{}
	contents := map[string]string{}
	for _, item := range items {
		switch item.Type {
		case schema.TypePost:
			posts[item.ID] = item
		case schema.TypeContent:
			contents[item.PostID] = item.Content
		}
	}
	for _, item := range items {
		if post := posts[item.PostID]; post.ID != "" && (item.ID == post.ID || !post.Deleted) {
			s.addStored(item, contents)
		}
	}
	return s, nil
}

// stored has the properties of all items that an export shows.
type stored struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	PostID       string        `json:"postId"`
	UserID       string        `json:"userId"`
	Username     string        `json:"username"`
	Content      string        `json:"content"`
	Head         blog.PostHead `json:"head"`
	CommentCount int64         `json:"commentCount"`
	LikeCount    int64         `json:"likeCount"`
	CreationDate blog.DateTime `json:"creationDate"`
	UpdatedDate  blog.DateTime `json:"updatedDate"`
	Version      int64         `json:"version"`
	Deleted      bool          `json:"deleted"`
	Timestamp    int64         `json:"_ts"`
}

func (s State) addStored(item stored, contents map[string]string) {
	switch item.Type {
	case schema.TypePost:
		content := cmp.Or(item.Content, contents[item.PostID])
		columns := item.Head
		columns.Tags, columns.ContentSize, columns.Excerpt = nil, blog.TextSize{}, "" // in other columns and tables
		s.addPost(export.Post{
			PostID: item.ID, AuthorID: item.UserID, PostHead: columns, Content: &content,
			ContentBytes: int64(item.Head.ContentSize[0]), ContentCharacters: int64(item.Head.ContentSize[1]),
			CommentCount: item.CommentCount, LikeCount: item.LikeCount,
			CreationDate: micros(item.CreationDate), UpdatedDate: optional(item.UpdatedDate), Version: item.Version, Deleted: item.Deleted,
			Changed: item.Timestamp * 1e6,
		})
		if !item.Deleted {
			for _, name := range item.Head.Tags {
				s.addTag(item.ID, name)
			}
		}
	case schema.TypeComment, schema.TypeTombstone:
		s.addComment(export.Comment{
			PostID: item.PostID, CommentID: item.ID, AuthorID: item.UserID, Content: &item.Content,
			CreationDate: micros(item.CreationDate), UpdatedDate: optional(item.UpdatedDate), Deleted: item.Deleted,
			Changed: item.Timestamp * 1e6,
		})
	case schema.TypeLike:
		s.addLike(export.Like{PostID: item.PostID, UserID: item.UserID, CreationDate: micros(item.CreationDate)})
	}
}

func micros(date blog.DateTime) int64 { return date.Time().UnixMicro() }

func optional(date blog.DateTime) *int64 {
	if date == "" {
		return nil
	}
	n := micros(date)
	return &n
}

// all returns all items of a container.
func all(ctx context.Context, db *cosmos.DB, container string) ([]stored, error) {
	return cosmos.QueryAcross[stored](ctx, db.Container(container), "SELECT * FROM c")
}

// Difference returns how an export differs from its database; empty if it does not. A deleted row
// of the export may be absent from the database, where it has expired.
func Difference(source, exported State) string {
	var lines []string
	for key, want := range source {
		if got, ok := exported[key]; !ok || got != want {
			lines = append(lines, fmt.Sprintf("%s is %q in the export, and %q in the database", key, got, want))
		}
	}
	for key, got := range exported {
		if _, ok := source[key]; !ok && got != Deleted {
			lines = append(lines, fmt.Sprintf("%s is %q in the export, and not in the database", key, got))
		}
	}
	slices.Sort(lines)
	if len(lines) > 10 {
		lines = append(lines[:10], fmt.Sprintf("and %d more", len(lines)-10))
	}
	return strings.Join(lines, "\n")
}
