package blog

import "strings"

// Type is the GraphQL type of an item.
type Type string

const (
	TypeUser    Type = "User"
	TypePost    Type = "Post"
	TypeComment Type = "Comment"
	TypeLike    Type = "Like"
)

// Ref identifies an item in the whole database: its type, its partition key and its id. Global
// ids encode a Ref, so that the lookup of a global id is a point read.
type Ref struct {
	Type         Type
	PartitionKey string
	ID           string
}

// refSeparator separates the two parts of the ids of comments and likes.
const refSeparator = "."

// String returns the global id. That of a user or post is the stored id. That of a comment is the
// stored id, a period and the id of its post. The stored id of a like is its user's: its global id
// begins with "l_" instead of "u_", and ends with the id of its post.
func (r Ref) String() string {
	switch r.Type {
	case TypeComment:
		return r.ID + refSeparator + r.PartitionKey
	case TypeLike:
		return likePrefix + strings.TrimPrefix(r.ID, userPrefix) + refSeparator + r.PartitionKey
	}
	return r.ID
}

// PostRef returns the reference to a post.
func PostRef(id string) Ref { return Ref{TypePost, id, id} }

// CheckType checks that an id names an item of a type. Error: BAD_USER_INPUT, also for the zero
// Ref, which stands for a malformed id.
func (r Ref) CheckType(want Type) error {
	switch r.Type {
	case want:
		return nil
	case "":
		return ErrBadRef
	}
	return Errorf(BadUserInput, "This is the id of a %s. Use the id of a %s here.", r.Type, want)
}

// ParseRef parses a global id. It returns ErrBadRef for any text that is not the result of
// Ref.String for an item with an id of this package.
func ParseRef(id string) (Ref, error) {
	item, post, hasPost := strings.Cut(id, refSeparator)
	if !hasPost {
		switch {
		case hasIDForm(userPrefix, item):
			return Ref{TypeUser, item, item}, nil
		case hasIDForm(postPrefix, item):
			return Ref{TypePost, item, item}, nil
		}
		return Ref{}, ErrBadRef
	}
	switch {
	case !hasIDForm(postPrefix, post):
		return Ref{}, ErrBadRef
	case hasIDForm(commentPrefix, item):
		return Ref{TypeComment, post, item}, nil
	case hasIDForm(likePrefix, item):
		return Ref{TypeLike, post, userPrefix + item[len(likePrefix):]}, nil
	}
	return Ref{}, ErrBadRef
}

// ErrBadRef reports an invalid global id.
var ErrBadRef = Errorf(BadUserInput,
	"This is not an id of this API: use the `id` field of a user, a post, a comment or a like.")
