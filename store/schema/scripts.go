package schema

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"

	"cosmosblog/store/cosmos"
)

//go:embed js/*.js
var scriptFiles embed.FS

var (
	CreateComment   = newScript("createComment", Posts)
	UpdateComment   = newScript("updateComment", Posts)
	DeleteComment   = newScript("deleteComment", Posts)
	CreateLike      = newScript("createLike", Posts)
	DeleteLike      = newScript("deleteLike", Posts)
	UpdateUsernames = newScript("updateUsernames", Posts)
	RecountPost     = newScript("recountPost", Posts)
	TruncateFeed    = newTrigger("truncateFeed", Feed)
)

// Scripts are all scripts, in the order in which they are registered.
var Scripts = []cosmos.Script{
	CreateComment, UpdateComment, DeleteComment, CreateLike, DeleteLike, UpdateUsernames,
	RecountPost, TruncateFeed,
}

// scriptVersionLength is how many hexadecimal digits of the hash an id carries.
const scriptVersionLength = 12

func newScript(name, container string) cosmos.Script {
	body, err := scriptFiles.ReadFile("js/" + name + ".js")
	if err != nil {
		panic(err) // the file is part of the program
	}
	sum := sha256.Sum256(body)
	version := hex.EncodeToString(sum[:])[:scriptVersionLength]
	return cosmos.Script{ID: name + "-" + version, Container: container, Body: string(body)}
}

func newTrigger(name, container string) cosmos.Script {
	s := newScript(name, container)
	s.Trigger = true
	return s
}

// The codes of a procedure's answer. With a code other than OK, nothing was written.
const (
	CodeOK              = "OK"
	CodePostNotFound    = "POST_NOT_FOUND"
	CodeCommentNotFound = "COMMENT_NOT_FOUND"
	CodeCommentDeleted  = "COMMENT_DELETED"
	CodeKeyReused       = "KEY_REUSED"
	CodeForbidden       = "FORBIDDEN"
)
