package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// form is what the items of a kind have in common. Absent and null are not zero: without its
// property deleted, a deleted post would be a live one.
type form struct {
	kind     string   // value of the property type; empty if it says nothing
	required []string // the properties that none lacks
	derived  []string // those that follow from others, so that a repair can write them
}

// formOf returns the form of the items that a Go type encodes. A property that is never absent has
// no omitempty.
func formOf[T any](kind string, derived ...string) form {
	f := form{kind: kind, derived: derived}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, options, ok := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || name == "" || slices.Contains(derived, name) {
			continue
		}
		if !ok || !strings.Contains(options, "omitempty") {
			f.required = append(f.required, name)
		}
	}
	return f
}

// The forms of sources, by type, and of what views have besides copies.
var (
	postForms = map[string]form{
		schema.TypePost: formOf[schema.PostItem](schema.TypePost,
			"commentCount", "likeCount", "recentComments", "lastCommentDate", "userUsername", "authorRevision", "sortKey"),
		schema.TypeComment:   formOf[schema.CommentItem](schema.TypeComment, "userUsername", "authorRevision", "sortKey", "excerpt"),
		schema.TypeTombstone: formOf[schema.CommentItem](schema.TypeTombstone, "userUsername", "authorRevision", "sortKey"),
		schema.TypeLike:      formOf[schema.LikeItem](schema.TypeLike, "userUsername", "authorRevision", "sortKey"),
		schema.TypeContent:   formOf[schema.ContentItem](schema.TypeContent),
	}
	userForm        = formOf[schema.UserItem](schema.TypeUser, "postCount")
	reservationForm = formOf[schema.ReservationItem]("")
	counterForm     = formOf[schema.CounterItem](schema.TypeCounter)
	weightForm      = formOf[schema.WeightItem]("", "type")
	horizonForm     = formOf[views.Horizon](schema.TypePost)
)

// check makes an item unreadable that does not have the form. Derived properties that cannot be
// decoded count as absent.
func (f form) check(i *auditedItem) {
	if i.unreadable != nil {
		i.dropDamaged(f.derived)
	}
	if i.unreadable == nil {
		i.unreadable = f.fault(i)
	}
}

// dropDamaged decodes an item without those of some properties that cannot be decoded.
func (i *auditedItem) dropDamaged(names []string) {
	var damaged []string
	kept, original := maps.Clone(i.properties()), *i
	for _, name := range names {
		alone, err := json.Marshal(map[string]json.RawMessage{name: kept[name]})
		if _, ok := kept[name]; ok && (err != nil || json.Unmarshal(alone, new(auditedItem)) != nil) {
			delete(kept, name)
			damaged = append(damaged, name)
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return
	}
	*i = *newAuditedItem(text)
	i.HasContent, i.Beginning, i.damaged = original.HasContent, original.Beginning, damaged
}

// isDamaged reports whether an item has a derived property, which is null or of the wrong type.
func (i *auditedItem) isDamaged(name string) bool {
	_, isNull := i.nulls()[name]
	return slices.Contains(i.damaged, name) || isNull && !i.has(name)
}

// checkSource is check for an item of posts, by its type.
func (i *auditedItem) checkSource() {
	f, ok := postForms[i.Type]
	f.check(i)
	id := map[string]string{schema.TypePost: i.PostID, schema.TypeContent: schema.ContentID}[i.Type]
	switch {
	case i.unreadable != nil:
	case !ok:
		i.unreadable = fmt.Errorf("the type is %q", i.Type)
	case id != "" && id != i.ID:
		i.unreadable = fmt.Errorf("a %s has another id than %s", i.Type, id)
	}
}

func (f form) fault(i *auditedItem) error {
	if f.kind != "" && i.Type != f.kind {
		return fmt.Errorf("the type is %q, and not %q", i.Type, f.kind)
	}
	for _, name := range f.required {
		switch {
		case name == "content" && (i.HasContent || i.ID == i.PostID): // contentDrifts has that of posts
		case i.has(name):
		case name == "userId" && i.Deleted && i.has("authorId"): // that of an item that expires
		default:
			return fmt.Errorf("the property %s is missing", name)
		}
	}
	for name, value := range i.nulls() {
		if string(value) == "null" && !slices.Contains(f.derived, name) {
			return fmt.Errorf("the property %s is null", name)
		}
	}
	return nil
}

// properties returns the properties of an item as they are stored, as far as they were read.
func (i *auditedItem) properties() map[string]json.RawMessage {
	if i.decoded == nil {
		_ = json.Unmarshal(i.stored, &i.decoded) // an object, as all items are
		delete(i.decoded, "hasContent")          // computed by partitionQuery, as is the next
		delete(i.decoded, "beginning")
	}
	return i.decoded
}

// nulls returns all properties if any of them may be null, and none otherwise: most items are not
// decoded for that.
func (i *auditedItem) nulls() map[string]json.RawMessage {
	if bytes.Contains(i.stored, []byte("null")) {
		return i.properties()
	}
	return nil
}

// has reports whether an item has a property that is not null. It decodes only items with an object
// in them, such as posts, or with a brace in a text: in all others, a quoted name before a colon is
// a property, because the quotes in texts are escaped.
func (i *auditedItem) has(name string) bool {
	if i.decoded == nil && bytes.Count(i.stored, []byte("{")) == 1 && i.nulls() == nil &&
		bytes.Contains(i.stored, []byte(`"`+name+`":`)) {
		return true
	}
	value, ok := i.properties()[name]
	return ok && string(value) != "null"
}

// text returns a property as it is stored, without quotes; empty if it is absent.
func (i *auditedItem) text(name string) string { return textOf(i.properties()[name]) }

func textOf(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && string(value) != "null" {
		return s
	}
	return string(value)
}

// isDate reports whether a property is a date, or empty.
func isDate(value json.RawMessage) bool {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return false
	}
	_, err := blog.ParseDateTime(s)
	return err == nil || s == "" && string(value) != "null"
}
