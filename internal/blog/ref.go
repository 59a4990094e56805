package blog

import "strings"

// Type is the type of an item, as the API names it.
type Type string

const (
	TypeUser    Type = "User"
	TypePost    Type = "Post"
	TypeComment Type = "Comment"
	TypeLike    Type = "Like"
)

// Ref names one item of the whole system: its type, the partition it is in, and its id there. It is what a global id
// holds, so that looking one up is a point read.
type Ref struct {
	Type         Type
	PartitionKey string
	ID           string
}

const refSeparator = ":"

// String gives "type:partition key:id".
func (r Ref) String() string {
	return string(r.Type) + refSeparator + r.PartitionKey + refSeparator + r.ID
}

// ParseRef reads what Ref.String wrote. Error: BAD_USER_INPUT for anything else, also for an id that no item of the
// type can have.
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

// ErrBadRef is what becomes of a text that is no id.
var ErrBadRef = Errorf(BadUserInput, "That is not an id of this API: take it from the `id` field of a user, a post, a comment or a like.")

// maxIDLength is far above the ids that the API makes (28 characters) and far below the service's limit (1023 bytes).
const maxIDLength = 128

// ValidID tells whether s may be an id of a stored item: the service takes more, but cannot address all that it takes.
func ValidID(s string) bool {
	if s == "" || len(s) > maxIDLength {
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
