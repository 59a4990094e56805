package projector_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// texts returns valid texts of each rule for an edit of a field.
var texts = map[string]func(edit int, field string) string{
	"title": func(edit int, field string) string { return fmt.Sprint(field, " of edit ", edit) },
	"tag":   func(edit int, _ string) string { return fmt.Sprint("tag-", edit) },
	"content": func(edit int, _ string) string { // every other one is an item of its own
		return fmt.Sprint("Content of edit ", edit, strings.Repeat(" long", edit%2*schema.MaxInlineContent/5))
	},
}

// fillTexts sets each text and each list of texts of an input to valid ones of an edit.
func fillTexts(t *testing.T, input any, edit int) {
	t.Helper()
	v := reflect.ValueOf(input).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		rule := field.Tag.Get("rule")
		if field.Type == reflect.TypeFor[blog.Ref]() || rule == "" || rule == "idempotencyKey" {
			continue
		}
		if texts[rule] == nil {
			t.Fatalf("the rule %s of %s has no valid text here", rule, field.Name)
		}
		switch text, to := texts[rule](edit, field.Name), v.FieldByIndex(field.Index); to.Kind() {
		case reflect.String:
			to.SetString(text)
		case reflect.Pointer:
			to.Set(reflect.ValueOf(&text))
		case reflect.Slice:
			to.Set(reflect.ValueOf([]string{text, "common"}))
		}
	}
}

// TestEditsReachEveryPlace edits every field of a post in one request, with contents that are
// stored on the post and apart by turns, and reads the post and all lists. Every field that an
// author can set must be in each, as it was sent.
func TestEditsReachEveryPlace(t *testing.T) {
	w := newWorld(t)
	author := w.user()
	var in blog.CreatePostInput
	fillTexts(t, &in, 0)
	post, err := w.store.CreatePost(t.Context(), author, in)
	w.must(err)
	w.settle()
	w.wantEverywhere(post, valueOf(in))
	for n := range 4 {
		edit := blog.UpdatePostInput{ID: post.Ref()}
		fillTexts(t, &edit, n+1)
		_, err := w.store.UpdatePost(t.Context(), author.ID, edit)
		w.must(err)
		w.settle()
		w.wantEverywhere(post, valueOf(edit.PostChange))
	}
	w.wantNoDrift()
}

// valueOf returns the fields of an input by name, without pointers.
func valueOf(input any) map[string]any {
	values := map[string]any{}
	v := reflect.ValueOf(input)
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsZero() {
			values[v.Type().Field(i).Name] = reflect.Indirect(field).Interface()
		}
	}
	return values
}

// wantEverywhere checks that the post, its copies and its entries have the fields of an input.
func (w *world) wantEverywhere(post *blog.Post, want map[string]any) {
	w.Helper()
	for place, read := range w.placesOf(post) {
		found, err := read(w.Context())
		w.must(err)
		if found == nil {
			w.Errorf("%s lacks the post", place)
			continue
		}
		v := reflect.ValueOf(*found)
		for name, value := range want {
			if name == "Content" && !found.ContentLoaded() {
				text := value.(string)
				name, value = "ContentSize", blog.SizeOf(text)
				if found.Excerpt != blog.Excerpt(text) {
					w.Errorf("%s has the excerpt %q", place, found.Excerpt)
				}
			}
			if is := v.FieldByName(name).Interface(); !reflect.DeepEqual(is, value) {
				w.Errorf("%s has the %s %v, want %v", place, name, is, value)
			}
		}
	}
}

// placesOf returns how to read a post from everywhere.
func (w *world) placesOf(post *blog.Post) map[string]func(context.Context) (*blog.Post, error) {
	first := func(page blog.Page[*blog.Post], err error) (*blog.Post, error) {
		if err != nil || len(page.Items) == 0 {
			return nil, err
		}
		return page.Items[0], nil
	}
	request := blog.PageRequest{First: 1}
	return map[string]func(context.Context) (*blog.Post, error){
		"the post": func(ctx context.Context) (*blog.Post, error) { return w.store.Post(ctx, post.ID) },
		"the feed": func(ctx context.Context) (*blog.Post, error) { return first(w.store.Feed(ctx, request)) },
		"the list of the author": func(ctx context.Context) (*blog.Post, error) {
			return first(w.store.UserPosts(ctx, post.Author.ID, request))
		},
		"the list of the month": func(ctx context.Context) (*blog.Post, error) {
			return first(w.store.ListedPosts(ctx, post.CreationDate.Month().List(), request))
		},
		"the list of a tag": func(ctx context.Context) (*blog.Post, error) {
			return first(w.store.ListedPosts(ctx, blog.Tag{Name: "common"}.List(), request))
		},
	}
}
