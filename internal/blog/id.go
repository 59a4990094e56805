package blog

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"io"
)

// Account is who a token speaks for. An account has at most one user.
type Account struct {
	Issuer  string
	Subject string
}

// UserID gives the id of the account's user: "u_" and a hash, so that a subject (often an e-mail address) shows nowhere.
func (a Account) UserID() string { return hashID("u_", a.Issuer, a.Subject) }

// An IDSource makes the ids of new items. Its zero value is of random ids; tests give Random a fixed stream. It may be
// used concurrently where Random may.
type IDSource struct {
	Random io.Reader // crypto/rand.Reader where nil
}

// NewPostID gives the id of a new post of the user: the same for the same idempotency key, otherwise a new one.
func (s IDSource) NewPostID(userID, idempotencyKey string) string {
	return s.newID("p_", "createPost", userID, idempotencyKey)
}

// NewCommentID gives the id of a new comment, as NewPostID does. The post is part of what is hashed: the same key on
// another post is another comment, because one partition cannot know what is in another.
func (s IDSource) NewCommentID(userID, postID, idempotencyKey string) string {
	return s.newID("c_", "createComment:"+postID, userID, idempotencyKey)
}

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

// idBytes is 128 bits: at a billion items the chance that any two share an id is about 1 in 10^20.
const idBytes = 16

// hashID hashes the parts so that no two lists of parts share a text.
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

// InputHash is kept on an item that was made with an idempotency key, and tells a retry from the same key used for
// something else.
func InputHash(parts ...string) string { return hashID("", parts...) }
