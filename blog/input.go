package blog

import (
	"encoding/json"
	"reflect"
)

// The inputs of mutations. The schema's types of the same names are bound to them (gqlgen.yml), and
// the tag json has the name of a field there. The tag rule names the rule of a text (textRules), or
// the type of the item that a Ref identifies. A field that is nil was not given.
//
// A field of CreatePostInput or PostChange whose name PostHead has, too, sets that field of a post.

// CreateUserInput is the input for a new user.
type CreateUserInput struct {
	Username       string  `json:"username" rule:"username"`
	IdempotencyKey *string `json:"idempotencyKey" rule:"idempotencyKey"` // not used: an account has one user
}

// UpdateUserInput is the input for a rename of a user.
type UpdateUserInput struct {
	Username string `json:"username" rule:"username"`
}

// DeleteUserInput is the input for the deletion of a user.
type DeleteUserInput struct {
	Username string `json:"username" rule:"username"`
}

// CreatePostInput is the input for a new post.
type CreatePostInput struct {
	Title          string   `json:"title" rule:"title"`
	Content        string   `json:"content" rule:"content"`
	Tags           []string `json:"tags" rule:"tag"`
	IdempotencyKey *string  `json:"idempotencyKey" rule:"idempotencyKey"`
}

// UpdatePostInput is the input for an edit of a post.
type UpdatePostInput struct {
	ID Ref `json:"id" rule:"Post"`
	PostChange
}

// PostChange is an edit of a post. Fields that are nil stay unchanged; empty Tags that are not nil
// remove all tags. Version, if not nil, is the version that the editor saw.
type PostChange struct {
	Title   *string  `json:"title" rule:"title"`
	Content *string  `json:"content" rule:"content"`
	Tags    []string `json:"tags" rule:"tag"`
	Version *int     `json:"version"`
}

// DeletePostInput is the input for the deletion of a post.
type DeletePostInput struct {
	ID Ref `json:"id" rule:"Post"`
}

// CreateCommentInput is the input for a new comment.
type CreateCommentInput struct {
	PostID         Ref     `json:"postId" rule:"Post"`
	Content        string  `json:"content" rule:"comment"`
	IdempotencyKey *string `json:"idempotencyKey" rule:"idempotencyKey"`
}

// UpdateCommentInput is the input for an edit of a comment.
type UpdateCommentInput struct {
	ID      Ref    `json:"id" rule:"Comment"`
	Content string `json:"content" rule:"comment"`
}

// DeleteCommentInput is the input for the deletion of a comment.
type DeleteCommentInput struct {
	ID Ref `json:"id" rule:"Comment"`
}

// LikePostInput is the input for a like of a post.
type LikePostInput struct {
	PostID Ref `json:"postId" rule:"Post"`
}

// UnlikePostInput is the input for the end of a like.
type UnlikePostInput struct {
	PostID Ref `json:"postId" rule:"Post"`
}

// textRules are the rules of texts, by their names in the tag rule.
var textRules = map[string]func(string) error{
	"username":       CheckUsername,
	"title":          CheckTitle,
	"content":        CheckContent,
	"tag":            CheckTag,
	"comment":        CheckComment,
	"idempotencyKey": CheckIdempotencyKey,
}

// FieldRules returns the rules of the texts and ids of all inputs, by their names in the schema,
// such as "CreatePostInput.title". The rule of a list is that of each text.
func FieldRules() map[string]func(string) error {
	rules := map[string]func(string) error{}
	for _, input := range []any{
		CreateUserInput{}, UpdateUserInput{}, DeleteUserInput{}, CreatePostInput{}, UpdatePostInput{}, DeletePostInput{},
		CreateCommentInput{}, UpdateCommentInput{}, DeleteCommentInput{}, LikePostInput{}, UnlikePostInput{},
	} {
		of := reflect.TypeOf(input)
		for _, field := range reflect.VisibleFields(of) {
			rule := field.Tag.Get("rule")
			check := textRules[rule]
			if field.Type == reflect.TypeFor[Ref]() {
				check = IDOf(Type(rule))
			}
			if rule != "" {
				rules[of.Name()+"."+field.Tag.Get("json")] = check
			}
		}
	}
	return rules
}

// IDOf returns the rule of the id of an item of a type.
func IDOf(want Type) func(string) error {
	return func(text string) error {
		id, _ := ParseRef(text) // the zero Ref is of no type
		return id.CheckType(want)
	}
}

// Check returns one BAD_USER_INPUT for each field of an input that breaks its rule.
func Check(input any) error {
	v := reflect.ValueOf(input)
	var errs []error
	for _, field := range reflect.VisibleFields(v.Type()) {
		if rule := field.Tag.Get("rule"); rule != "" {
			errs = append(errs, AtField(checkField(v.FieldByIndex(field.Index).Interface(), rule), field.Tag.Get("json")))
		}
	}
	return JoinFields(errs...)
}

func checkField(value any, rule string) error {
	switch value := value.(type) {
	case string:
		return textRules[rule](value)
	case *string:
		if value != nil {
			return textRules[rule](*value)
		}
	case []string:
		if rule == "tag" {
			return checkTags(value)
		}
		var errs []error
		for i, text := range value {
			errs = append(errs, AtField(textRules[rule](text), i))
		}
		return JoinFields(errs...)
	case Ref:
		return value.CheckType(Type(rule))
	}
	return nil
}

// setFrom sets the fields of a head that an input has too, unless they are nil.
func (h *PostHead) setFrom(input any) {
	head, from := reflect.ValueOf(h).Elem(), reflect.ValueOf(input)
	for i := range head.NumField() {
		value, to := from.FieldByName(head.Type().Field(i).Name), head.Field(i)
		switch {
		case !value.IsValid() || value.IsZero():
		case value.Kind() == reflect.Pointer:
			to.Set(value.Elem())
		case value.Kind() == reflect.Slice && value.Len() == 0:
			to.SetZero()
		default:
			to.Set(value)
		}
	}
}

// Head returns the head of the new post, without what follows from the content.
func (in CreatePostInput) Head() (head PostHead) {
	head.setFrom(in)
	return head
}

// Head returns the head of a post after the edit.
func (c PostChange) Head(before PostHead) PostHead {
	before.setFrom(c)
	if c.Content != nil {
		before.SetContent(*c.Content)
	}
	return before
}

// InputHash returns a hash of the fields of an input that have a value, except for ids and the
// idempotency key, of which the id of the created item is a hash. The item stores the hash, which
// tells a retry from a request with the same key and other input.
func InputHash(input any) string {
	v := reflect.ValueOf(input)
	var parts []string
	for _, field := range reflect.VisibleFields(v.Type()) {
		value, name := v.FieldByIndex(field.Index), field.Tag.Get("json")
		isNone := value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
		if !isNone && name != "idempotencyKey" && field.Type != reflect.TypeFor[Ref]() {
			text, _ := json.Marshal(value.Interface()) // texts can be encoded
			parts = append(parts, name, string(text))
		}
	}
	return Hash(parts...)
}
