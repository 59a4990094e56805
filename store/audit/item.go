package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// auditedItem is an item of any type as an audit reads it, without the texts of posts and comments,
// or the place of an item that does not exist.
type auditedItem struct {
	schema.PostItem
	List            blog.List     `json:"list"`
	Weight          int           `json:"weight"`
	Unlisted        bool          `json:"unlisted"`
	Username        string        `json:"username"`
	PendingUsername string        `json:"pendingUsername"`
	PostCount       int           `json:"postCount"`
	CommentExcerpt  string        `json:"excerpt"`
	HasContent      bool          `json:"hasContent"` // the item has the text content; only from partitionQuery
	Beginning       string        `json:"beginning"`  // of the content: all of one without an excerpt; only from partitionQuery
	ArrivalDate     blog.DateTime `json:"arrivalDate"`
	ETag            azcore.ETag   `json:"_etag"`

	container, partition string
	properties           map[string]json.RawMessage // as far as they were read, without those of the service
	unreadable           error                      // why the item cannot be decoded, or has not its form; only id and type are certain then
}

// partitionKeys has the properties that are partition keys; id in other containers.
var partitionKeys = map[string]string{
	schema.Posts: "postId", schema.Users: "userId", schema.Lists: "list", schema.Feed: "type", schema.Usernames: "id", schema.Leases: "id",
}

func newAuditedItem(container string, text []byte) *auditedItem {
	i := &auditedItem{container: container}
	i.unreadable = json.Unmarshal(text, i) // continues behind a property of the wrong type
	_ = cosmos.Decode(text, &i.properties) // an object, as all items are
	for name := range i.properties {
		if strings.HasPrefix(name, "_") || name == "hasContent" || name == "beginning" {
			delete(i.properties, name)
		}
	}
	_ = json.Unmarshal(i.properties[partitionKeys[container]], &i.partition)
	i.UserID = i.Writer()
	i.checkForm()
	return i
}

// absentItem returns the place of an item that does not exist.
func absentItem(container string, at cosmos.Address) *auditedItem {
	return &auditedItem{PostItem: schema.PostItem{ID: at.ID}, container: container, partition: at.Partition}
}

func (i *auditedItem) exists() bool { return i.ETag != "" }

func (i *auditedItem) address() cosmos.Address {
	return cosmos.Address{Partition: i.partition, ID: i.ID}
}

func (i *auditedItem) isComment() bool { return i.Type == schema.TypeComment }

// isTombstone reports whether the item is a deleted comment in posts, the copy of a deleted post in
// users, or the entry of a post that has left a list.
func (i *auditedItem) isTombstone() bool { return i.Type == schema.TypeTombstone }

// isGone reports whether an item is deleted, and everything that follows from that is done.
func (i *auditedItem) isGone() bool { return i.Deleted && i.TTL > 0 }

// isBefore reports whether the item has a name of an earlier revision of its author, so that a
// sweep changes it.
func (i *auditedItem) isBefore(revision int64) bool {
	return 0 < i.AuthorRevision && i.AuthorRevision < revision
}

// decode decodes the properties of the item, except for some.
func (i *auditedItem) decode(to any, except ...string) error {
	kept := maps.Clone(i.properties)
	maps.DeleteFunc(kept, func(name string, _ json.RawMessage) bool { return slices.Contains(except, name) })
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// has reports whether an item has a property that is not null.
func (i *auditedItem) has(name string) bool {
	value, ok := i.properties[name]
	return ok && string(value) != "null"
}

// text returns a property as it is stored, without quotes; empty if it is absent.
func (i *auditedItem) text(name string) string { return textOf(i.properties[name]) }

// textOf returns a value without quotes; empty if it is absent.
func textOf(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil || string(value) == "null" {
		return string(value)
	}
	return s
}

// recent returns what a post stores of a comment.
func (i *auditedItem) recent() schema.RecentComment {
	comment := schema.CommentItem{
		ID:             i.ID,
		UserID:         i.UserID,
		UserUsername:   i.UserUsername,
		AuthorRevision: i.AuthorRevision,
		Content:        i.Beginning,
		Excerpt:        i.CommentExcerpt,
		CreationDate:   i.CreationDate,
		UpdatedDate:    i.UpdatedDate,
	}
	return comment.Recent()
}

// beginningLength is the number of UTF-16 code units that are read of contents: two for each
// character of an excerpt, and some more.
const beginningLength = 2*blog.CommentExcerptLength + 2

// commentExcerpt returns the excerpt that a comment should have, nil for none. It returns false if
// the item is no comment, or if too little of its content was read: that begins with much white
// space.
func (i *auditedItem) commentExcerpt() (excerpt any, ok bool) {
	isWhole := len(utf16.Encode([]rune(i.Beginning))) < beginningLength
	folded := strings.Join(strings.Fields(i.Beginning), " ")
	isDamaged := i.CommentExcerpt == "" && i.properties["excerpt"] != nil
	if text := schema.CommentExcerpt(i.Beginning); text != "" {
		excerpt = text
	}
	return excerpt, i.isComment() && (isWhole || isDamaged || utf8.RuneCountInString(folded) > blog.CommentExcerptLength)
}

// partitionQuery reads all properties that posts, comments, likes and copies have, and only the
// beginning of contents.
var partitionQuery = func() string {
	var names []string
	for _, t := range []any{schema.FeedItem{}, schema.CommentItem{}, views.CopyState{}} {
		all, _ := propertiesOf(reflect.TypeOf(t))
		for _, name := range all {
			if column := "c." + name; name != "content" && !slices.Contains(names, column) {
				names = append(names, column)
			}
		}
	}
	return fmt.Sprintf("SELECT %s, IS_STRING(c.content) AS hasContent, LEFT(c.content, %d) AS beginning FROM c",
		strings.Join(names, ", "), beginningLength)
}()

// propertiesOf returns the properties of the items that a Go type encodes, and those that are never
// absent, such as head and head.title.
func propertiesOf(t reflect.Type) (all, required []string) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			inner, needed := propertiesOf(field.Type)
			all, required = append(all, inner...), append(required, needed...)
		case name != "":
			all = append(all, name)
			if options != "omitempty" {
				required = append(required, name)
			}
			if field.Anonymous { // the head of a post
				_, needed := propertiesOf(field.Type)
				for _, inner := range needed {
					required = append(required, name+"."+inner)
				}
			}
		}
	}
	return all, required
}

// form is what the items of a kind have in common. Absent and null are not zero: without its
// property deleted, a deleted post would be a live one.
type form struct {
	kind     string   // value of the property type; empty if it says nothing
	required []string // the properties that none lacks
	derived  []string // those that follow from others, so that a repair can write them
}

func formOf[T any](kind string, derived ...string) *form {
	_, required := propertiesOf(reflect.TypeFor[T]())
	return &form{kind, slices.DeleteFunc(required, func(name string) bool { return slices.Contains(derived, name) }), derived}
}

// The forms of sources, by type, and of what views have besides copies.
var (
	postForms = map[string]*form{
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

// form returns the form of the item; nil for copies, which are compared with their posts.
func (i *auditedItem) form() *form {
	_, namesLists := blog.KindOfPartition(i.partition)
	switch {
	case i.container == schema.Posts && postForms[i.Type] != nil:
		return postForms[i.Type]
	case i.container == schema.Posts:
		return &form{kind: "post, comment or like"}
	case i.container == schema.Users && i.ID == i.partition:
		return userForm
	case i.container == schema.Usernames:
		return reservationForm
	case i.container == schema.Lists && i.ID == schema.CounterID:
		return counterForm
	case i.container == schema.Lists && namesLists:
		return weightForm
	case i.container == schema.Feed && i.ID == views.HorizonID:
		return horizonForm
	}
	return nil
}

// checkForm makes an item unreadable that does not have its form. Derived properties may be of any
// type.
func (i *auditedItem) checkForm() {
	f := i.form()
	if f == nil {
		return
	}
	if i.unreadable != nil {
		i.unreadable = i.decode(new(auditedItem), f.derived...)
	}
	if i.unreadable == nil {
		i.unreadable = f.fault(i)
	}
}

func (f *form) fault(i *auditedItem) error {
	if f.kind != "" && i.Type != f.kind {
		return fmt.Errorf("the type is %q, and not %q", i.Type, f.kind)
	}
	if id := map[string]string{schema.TypePost: i.PostID, schema.TypeContent: schema.ContentID}[i.Type]; i.container == schema.Posts && id != "" && id != i.ID {
		return fmt.Errorf("a %s has another id than %s", i.Type, id)
	}
	head := propertiesIn(i.properties["head"])
	for _, name := range f.required {
		field, isOfHead := strings.CutPrefix(name, "head.")
		switch {
		case i.has(name), isOfHead && head[field] != nil && string(head[field]) != "null":
		case name == "content" && i.HasContent:
		case name == "userId" && i.Deleted && i.has("authorId"): // that of an item that expires
		default:
			return fmt.Errorf("the property %s is missing", name)
		}
	}
	for name, value := range i.properties {
		if string(value) == "null" && !slices.Contains(f.derived, name) {
			return fmt.Errorf("the property %s is null", name)
		}
	}
	return nil
}
