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
	deleteCommentScript   = newScript("deleteComment", postsContainer)
	createLikeScript      = newScript("createLike", postsContainer)
	deleteLikeScript      = newScript("deleteLike", postsContainer)
	updateUsernamesScript = newScript("updateUsernames", postsContainer)
	truncateFeedScript    = newTrigger("truncateFeed", feedContainer)
)

// scripts are all scripts, in the order in which they are registered.
var scripts = []script{
	createCommentScript, deleteCommentScript, createLikeScript, deleteLikeScript, updateUsernamesScript,
	truncateFeedScript,
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

// definition is the script as the account keeps it.
func (s script) definition() any {
	type procedure struct {
		ID   string `json:"id"`
		Body string `json:"body"`
	}
	p := procedure{s.id, s.body}
	if !s.trigger {
		return p
	}
	return struct {
		procedure
		Type      string `json:"triggerType"`
		Operation string `json:"triggerOperation"`
	}{p, "Post", "All"}
}

// label names the script to a person.
func (s script) label() string {
	if s.trigger {
		return "trigger " + s.id
	}
	return "stored procedure " + s.id
}
