package blog

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"io"
	"strings"
)

// Account identifies the owner of a token. An account has at most one user.
type Account struct {
	Issuer  string
	Subject string
}

// The prefixes of ids. The stored id of a like is its user's, so only its global id has a prefix
// of its own.
const (
	userPrefix    = "u_"
	postPrefix    = "p_"
	commentPrefix = "c_"
	likePrefix    = "l_"
)

// UserID returns the id of the account's user: "u_" and a hash. It is a function of the account,
// so repeated requests, likes and copies of a database agree on it. The hash has no key: who knows
// the issuer can try subjects, tens of thousands a second. It hides only subjects that nobody can
// guess, such as random ids, but not e-mail addresses.
func (a Account) UserID() string { return hashID(userPrefix, a.Issuer, a.Subject) }

// IDSource generates the ids of new items. The zero value generates random ids. It may be used
// concurrently if Random may.
type IDSource struct {
	Random io.Reader // if nil, crypto/rand.Reader; tests set a fixed stream
}

// NewPostID returns the id of a new post of the user. With an idempotency key, the id is a hash
// of user and key, so a retry has the same id. Without one, the id is random.
func (s IDSource) NewPostID(userID, idempotencyKey string) string {
	return s.newID(postPrefix, "createPost", userID, idempotencyKey)
}

// NewCommentID returns the id of a new comment, like NewPostID. The hash includes the post, so
// the same key on another post creates another comment: one partition cannot detect a key used
// in another.
func (s IDSource) NewCommentID(userID, postID, idempotencyKey string) string {
	return s.newID(commentPrefix, "createComment:"+postID, userID, idempotencyKey)
}

// NewEditID returns a random id of one edit of a post or comment. It is short, because it must be
// unique only among its latest edits.
func (s IDSource) NewEditID() string { return s.newID("", "", "", "")[:10] }

func (s IDSource) newID(prefix, operation, userID, idempotencyKey string) string {
	if idempotencyKey != "" {
		return hashID(prefix, operation, userID, idempotencyKey)
	}
	random := s.Random
	if random == nil {
		random = rand.Reader
	}
	var b [idBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		panic("blog: the source of random ids failed: " + err.Error()) // crypto/rand.Reader never does
	}
	return prefix + encodeID(b[:])
}

// idBytes is the size of an id: 128 bits. With a billion items, the probability of a collision
// is about 1 in 10^20.
const idBytes = 16

// hashID returns a hash of the parts. It hashes each part first, so that different lists of
// parts never produce the same input.
func hashID(prefix string, parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return prefix + encodeID(h.Sum(nil)[:idBytes])
}

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func encodeID(b []byte) string { return idEncoding.EncodeToString(b) }

// The 26 characters of an id have room for 130 bits. The last character therefore holds three bits
// only: it is one of lastIDCharacters.
const (
	idLength         = 26
	lastIDCharacters = "aeimquy4"
)

// hasIDForm reports whether s is an id of this package with a prefix: 26 characters of a-z and 2-7
// after it, as encodeID writes them. Such an id is a safe segment of a path.
func hasIDForm(prefix, s string) bool {
	if len(s) != len(prefix)+idLength || s[:len(prefix)] != prefix {
		return false
	}
	for i := len(prefix); i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return strings.IndexByte(lastIDCharacters, s[len(s)-1]) >= 0
}

// IsCommentID reports whether s can be the stored id of a comment.
func IsCommentID(s string) bool { return hasIDForm(commentPrefix, s) }

// PackedID is an id without its prefix, as bytes.
type PackedID [idBytes]byte

// PackID returns an id as bytes. It returns false if it is not an id of this package.
func PackID(id string) (packed PackedID, ok bool) {
	if len(id) < len(userPrefix) || !hasIDForm(id[:len(userPrefix)], id) {
		return packed, false
	}
	// Lists pack the id of every element. encoding/base32 takes four times as long.
	bits, n := uint(0), 0 // the lowest n bits are not yet packed
	at := 0
	for _, c := range []byte(id[len(userPrefix):]) {
		value := c - 'a'
		if c < 'a' {
			value = c - '2' + 26
		}
		bits, n = bits<<5|uint(value), n+5
		if n >= 8 {
			n -= 8
			packed[at] = byte(bits >> n)
			at++
		}
	}
	return packed, true
}

// UserID returns the user's id that was packed.
func (p PackedID) UserID() string { return userPrefix + encodeID(p[:]) }

// PostID returns the post's id that was packed.
func (p PackedID) PostID() string { return postPrefix + encodeID(p[:]) }

// CommentID returns the comment's id that was packed.
func (p PackedID) CommentID() string { return commentPrefix + encodeID(p[:]) }

// Hash returns a hash of texts.
func Hash(parts ...string) string { return hashID("", parts...) }
