package store

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
)

//go:embed js/*.js
var scriptFiles embed.FS

// script is a stored procedure or a trigger as it is registered. Its id carries its version, the beginning of a hash of
// its text: a script is never changed under a server that still uses it, and several versions stand side by side.
type script struct {
	id        string
	container string
	body      string
	trigger   bool // behind writes (post) of any kind (all); otherwise a stored procedure
}

var (
	createCommentScript   = newScript("createComment", postsContainer)
	updateCommentScript   = newScript("updateComment", postsContainer)
	deleteCommentScript   = newScript("deleteComment", postsContainer)
	createLikeScript      = newScript("createLike", postsContainer)
	deleteLikeScript      = newScript("deleteLike", postsContainer)
	updateUsernamesScript = newScript("updateUsernames", postsContainer)
	recountPostScript     = newScript("recountPost", postsContainer)
	truncateFeedScript    = newTrigger("truncateFeed", feedContainer)
)

// scripts are all scripts, in the order in which they are registered.
var scripts = []script{
	createCommentScript, updateCommentScript, deleteCommentScript, createLikeScript, deleteLikeScript, updateUsernamesScript,
	recountPostScript, truncateFeedScript,
}

// scriptVersionLength is how many hexadecimal digits of the hash an id carries.
const scriptVersionLength = 12

func newScript(name, container string) script {
	body, err := scriptFiles.ReadFile("js/" + name + ".js")
	if err != nil {
		panic(err) // the file is part of the program
	}
	sum := sha256.Sum256(body)
	version := hex.EncodeToString(sum[:])[:scriptVersionLength]
	return script{id: name + "-" + version, container: container, body: string(body)}
}

func newTrigger(name, container string) script {
	s := newScript(name, container)
	s.trigger = true
	return s
}

// kind is the script's part in a link.
func (s script) kind() string {
	if s.trigger {
		return "triggers"
	}
	return "sprocs"
}

// scriptDefinition is a script as an account keeps it.
type scriptDefinition struct {
	ID        string `json:"id"`
	Body      string `json:"body"`
	Type      string `json:"triggerType,omitempty"` // of triggers alone, as is the operation
	Operation string `json:"triggerOperation,omitempty"`
}

func (s script) definition() scriptDefinition {
	d := scriptDefinition{ID: s.id, Body: s.body}
	if s.trigger {
		d.Type, d.Operation = "Post", "All"
	}
	return d
}

// label names the script to a person.
func (s script) label() string {
	if s.trigger {
		return "trigger " + s.id
	}
	return "stored procedure " + s.id
}
