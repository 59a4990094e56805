package model

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"time"

	"cosmosblog/blog"
)

// List names one list of the API. Cursors contain its kind and a mark of its parent, so a list
// rejects the cursors of another.
type List struct {
	kind   listKind
	parent string // id of the user or post, or the blog.List; empty for the feed
	mark   [3]byte
}

// listKind is the kind of a list and the version of its cursors, in 4 bits. A new form of a cursor
// needs a new number.
type listKind byte

const (
	feedKind listKind = iota + 8 // 1 to 6 are of a form with fewer bits for the rank, 7 begins the base64 of texts
	userPostsKind
	commentsKind
	likesKind
	listedPostsKind
	arrivalsKind
)

// isOfFeed reports whether there is only one list of the kind, so that its cursors need no mark.
func (k listKind) isOfFeed() bool { return k == feedKind || k == arrivalsKind }

// FeedList names the feed.
var FeedList = List{kind: feedKind}

// ArrivalsList names the posts of the feed in the order of their arrival. The creation date of a
// position is the date of arrival.
var ArrivalsList = List{kind: arrivalsKind}

// UserPostsList names the list of a user's posts.
func UserPostsList(userID string) List { return newList(userPostsKind, userID) }

// CommentsList names the list of a post's comments.
func CommentsList(postID string) List { return newList(commentsKind, postID) }

// ListedPostsList names the list of the posts with a tag, or of a month.
func ListedPostsList(list blog.List) List { return newList(listedPostsKind, string(list)) }

// LikesList names the list of a post's likes.
func LikesList(postID string) List { return newList(likesKind, postID) }

func newList(kind listKind, parent string) List {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(parent)) // never fails
	sum := hash.Sum32()
	return List{kind, parent, [3]byte{byte(sum >> 16), byte(sum >> 8), byte(sum)}}
}

// A cursor is the base64url of 24 bytes in the lists of the feed, and 27 in others:
//   - 8 bytes, big-endian: the listKind in 4 bits, the creation date in 52 bits (microseconds since
//     1970, which end in the year 2112), and the rank in 8 bits,
//   - not in the feed: 3 bytes of a hash of the list's user, post, tag or month,
//   - 16 bytes: the id of the element, packed.
//
// The hash finds mistakes: of 16 million cursors of other lists, about one is accepted.
//
// Cursors are not signed. A client that forges one can request any position of a list, and
// positions are not secret. A forged smaller rank shows posts of the feed beyond FeedLength,
// which the container keeps in reserve. These posts are public: their authors' lists show them
// too.
const (
	rankBits = 8
	dateBits = 52

	_ = uint(1<<rankBits - 1 - blog.FeedLength) // every rank has room
)

// cursorEncoding needs no escaping in a URL.
var cursorEncoding = base64.RawURLEncoding.Strict()

// Cursor returns the opaque cursor of a position in the list. The position must be that of a stored
// element: ids of other forms have no cursor that Position accepts.
func (l List) Cursor(p blog.Position) string {
	date := uint64(p.CreationDate.Time().UnixMicro()) & (1<<dateBits - 1)
	head := uint64(l.kind)<<(dateBits+rankBits) | date<<rankBits | uint64(p.Rank)
	id, _ := blog.PackID(p.ID)
	bytes := binary.BigEndian.AppendUint64(make([]byte, 0, 27), head)
	if !l.kind.isOfFeed() {
		bytes = append(bytes, l.mark[:]...)
	}
	return string(cursorEncoding.AppendEncode(make([]byte, 0, 36), append(bytes, id[:]...)))
}

// Position parses a cursor of the list. Error: BAD_USER_INPUT for any other text, including a
// cursor of another list.
func (l List) Position(cursor string) (blog.Position, error) {
	if len(cursor) > cursorEncoding.EncodedLen(27) {
		return blog.Position{}, errBadCursor
	}
	bytes, err := cursorEncoding.DecodeString(cursor)
	if err != nil || len(bytes) != 24 && len(bytes) != 27 {
		return blog.Position{}, errBadCursor
	}
	head := binary.BigEndian.Uint64(bytes)
	kind := listKind(head >> (dateBits + rankBits))
	switch {
	case kind < feedKind || kind > arrivalsKind || kind.isOfFeed() != (len(bytes) == 24):
		return blog.Position{}, errBadCursor
	case kind != l.kind, !kind.isOfFeed() && [3]byte(bytes[8:11]) != l.mark:
		return blog.Position{}, errOtherList
	}
	position := blog.Position{
		CreationDate: blog.NewDateTime(time.UnixMicro(int64(head >> rankBits & (1<<dateBits - 1)))),
		ID:           l.elementID(blog.PackedID(bytes[len(bytes)-16:])),
		Rank:         int(head & (1<<rankBits - 1)),
	}
	isRanked := position.Rank > 0 && position.Rank <= blog.FeedLength
	if isRanked != (kind == feedKind) || !isRanked && position.Rank != 0 || l.Cursor(position) != cursor {
		return blog.Position{}, errBadCursor
	}
	return position, nil
}

// elementID returns the stored id of an element of the list.
func (l List) elementID(id blog.PackedID) string {
	switch l.kind {
	case commentsKind:
		return id.CommentID()
	case likesKind:
		return id.UserID() // the stored id of a like
	}
	return id.PostID()
}

var (
	errBadCursor = blog.Errorf(blog.BadUserInput, "`after` is not a valid cursor. Use an edge's `cursor` or `pageInfo.endCursor`.")
	errOtherList = blog.Errorf(blog.BadUserInput, "`after` is the cursor of another list.")
)

// PageRequest checks and parses the arguments of a list. `first` must be 0 to 100; nil means 20.
// A nil `after` means the beginning of the list. Error: BAD_USER_INPUT, for each invalid argument.
func (l List) PageRequest(first *int, after *string) (blog.PageRequest, error) {
	request := blog.PageRequest{First: blog.DefaultPageSize}
	if first != nil {
		request.First = *first
	}
	var invalidFirst, invalidAfter error
	if request.First < 0 || request.First > blog.MaxPageSize {
		invalidFirst = blog.Errorf(blog.BadUserInput, "`first` must be 0 to %d.", blog.MaxPageSize)
	}
	if after != nil {
		request.After = new(blog.Position)
		*request.After, invalidAfter = l.Position(*after)
	}
	return request, blog.JoinFields(blog.AtField(invalidFirst, "first"), blog.AtField(invalidAfter, "after"))
}
