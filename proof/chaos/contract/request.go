package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Request returns the document that a client sends, and its variables.
func (o *Operation) Request() (document string, variables map[string]any) {
	r, kind := roots[o.Kind], "mutation "
	if o.Kind.IsRead() {
		kind = "query "
	}
	return kind + r.arguments + "{ " + string(o.Kind) + r.call + r.fields + " }", o.variables()
}

// root is a root field of the API.
type root struct {
	arguments, call string // the declaration of variables, and the arguments
	fields          string
}

// The fields of objects that the types have. Lists of posts copy those of a card.
const (
	UserFields    = ` { id username } `
	CommentFields = ` { id content excerpt creationDate author` + UserFields + `} `
	PostFields    = `{ content ` + cardFields + `}`
	CardFields    = `{ ` + cardFields + `}`

	cardFields = `id title contentLength excerpt commentCount recentComments { id excerpt author` + UserFields + `}
		likeCount version creationDate updatedDate author` + UserFields
)

var roots = map[Kind]root{
	CreateUser:    input("CreateUserInput", "user"+UserFields),
	UpdateUser:    input("UpdateUserInput", "user"+UserFields),
	DeleteUser:    input("DeleteUserInput", "user"+UserFields),
	CreatePost:    input("CreatePostInput", "post"+PostFields),
	UpdatePost:    input("UpdatePostInput", "post"+PostFields),
	DeletePost:    input("DeletePostInput", "post"+PostFields),
	CreateComment: input("CreateCommentInput", "post"+PostFields+" comment"+CommentFields),
	UpdateComment: input("UpdateCommentInput", "comment"+CommentFields),
	DeleteComment: input("DeleteCommentInput", "post"+PostFields),
	LikePost:      input("LikePostInput", "post"+PostFields),
	UnlikePost:    input("UnlikePostInput", "post"+PostFields),
	ReadPost:      {"($id: ID!)", "(id: $id)", strings.Replace(PostFields, "{", "{ viewerHasLiked", 1)},
	ReadViewer:    {"", "", UserFields},
	ReadComment:   {"($id: ID!)", "(id: $id)", "{ ... on Comment" + CommentFields + "}"},
	ReadFeed:      {"", fmt.Sprintf("(first: %d)", FeedPage), "{ nodes " + CardFields + " }"},
}

func input(name, fields string) root {
	return root{"($input: " + name + "!)", "(input: $input)", " { " + fields + " }"}
}

// variables returns the variables of an operation.
func (o *Operation) variables() map[string]any {
	v := map[string]any{}
	set := func(name, value string) {
		if value != "" {
			v[name] = value
		}
	}
	switch o.Kind {
	case ReadPost:
		return map[string]any{"id": o.PostID}
	case ReadComment:
		return map[string]any{"id": o.CommentID}
	case ReadViewer, ReadFeed:
		return nil
	case UpdatePost, DeletePost:
		set("id", o.PostID)
	case UpdateComment, DeleteComment:
		set("id", o.CommentID)
	case CreateComment, LikePost, UnlikePost:
		set("postId", o.PostID)
	}
	set("username", o.Username)
	set("title", o.Title)
	set("content", o.Content)
	if !strings.HasPrefix(o.Key, WithoutKey) {
		set("idempotencyKey", o.Key)
	}
	if o.Version > 0 {
		v["version"] = o.Version
	}
	return map[string]any{"input": v}
}

// WithoutKey is the beginning of the key of an operation that is sent without one.
const WithoutKey = "none "

// Decode sets the parts of the answer from the value of the root field.
func (o *Operation) Decode(answer json.RawMessage) {
	var err error
	switch o.Kind {
	case ReadPost:
		var liked struct{ ViewerHasLiked *bool }
		err = errors.Join(json.Unmarshal(answer, &o.Post), json.Unmarshal(answer, &liked))
		o.Liked = liked.ViewerHasLiked
	case ReadViewer:
		err = json.Unmarshal(answer, &o.User)
	case ReadComment:
		err = json.Unmarshal(answer, &o.Comment)
	default:
		var parts struct {
			User    *User
			Post    *Post
			Comment *Comment
			Nodes   []Post
		}
		err = json.Unmarshal(answer, &parts)
		o.User, o.Post, o.Comment, o.Feed = parts.User, parts.Post, parts.Comment, parts.Nodes
	}
	if err != nil {
		panic(fmt.Sprintf("decoding %s: %v", answer, err)) // the fields of roots and the types differ
	}
}
