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

const refSeparator = ":"

// String returns "type:partition key:id".
func (r Ref) String() string {
	return string(r.Type) + refSeparator + r.PartitionKey + refSeparator + r.ID
}

// ParseRef parses a result of Ref.String. It returns ErrBadRef for any other text, and for ids
// that no item of the type can have.
func ParseRef(s string) (Ref, error) {
	parts := strings.Split(s, refSeparator)
	if len(parts) != 3 {
		return Ref{}, ErrBadRef
	}
	r := Ref{Type(parts[0]), parts[1], parts[2]}
	if !ValidID(r.PartitionKey) || !ValidID(r.ID) {
		return Ref{}, ErrBadRef
	}
	switch r.Type {
	case TypeUser, TypePost:
		if r.PartitionKey != r.ID {
			return Ref{}, ErrBadRef
		}
	case TypeComment, TypeLike:
	default:
		return Ref{}, ErrBadRef
	}
	return r, nil
}

// ErrBadRef reports an invalid global id.
var ErrBadRef = Errorf(BadUserInput,
	"This is not an id of this API: use the `id` field of a user, a post, a comment or a like.")

// maxIDLength is much longer than the API's ids (28 characters) and much shorter than the
// service's limit (1023 bytes).
const maxIDLength = 128

// ValidID reports whether s can be the id of an item: 1 to 128 characters of [A-Za-z0-9_.-], but
// not "." or "..". The service accepts other characters, but cannot address all of the resulting
// items. An id becomes a segment of a path, where "." and ".." name other resources.
func ValidID(s string) bool {
	if s == "" || len(s) > maxIDLength || s == "." || s == ".." {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isIDByte(s[i]) {
			return false
		}
	}
	return true
}

func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}
