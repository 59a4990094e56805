package schema

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

//go:embed js/*.js
var scriptFiles embed.FS

// The stored procedures and triggers.
var (
	CreatePost      = newScript("createPost", Posts)
	CreateComment   = newScript("createComment", Posts)
	UpdateComment   = newScript("updateComment", Posts)
	DeleteComment   = newScript("deleteComment", Posts)
	CreateLike      = newScript("createLike", Posts)
	DeleteLike      = newScript("deleteLike", Posts)
	UpdateUsernames = newScript("updateUsernames", Posts)
	RestoreRecent   = newScript("restoreRecentComments", Posts)
	ReserveUsername = newScript("reserveUsername", Usernames)
	TruncateFeed    = newTrigger("truncateFeed", Feed)
)

// Scripts are all scripts, in the order of their registration.
var Scripts = []cosmos.Script{
	CreatePost, CreateComment, UpdateComment, DeleteComment, CreateLike, DeleteLike,
	UpdateUsernames, RestoreRecent, ReserveUsername, TruncateFeed,
}

// scriptVersionLength is the number of hexadecimal digits of the hash in a script's id.
const scriptVersionLength = 12

// newScript returns the stored procedure in the file js/name.js, which begins with the body of
// js/prelude.js: the service takes a single function.
func newScript(name, container string) cosmos.Script {
	const begin = "(args) {\n"
	_, prelude, _ := strings.Cut(readScript("prelude"), begin)
	head, body, _ := strings.Cut(readScript(name), begin)
	parts := strings.Split(strings.TrimSuffix(prelude, "\n}\n"), "\n\n")
	return scriptOf(name, container, head+begin+used(parts, body)+"\n\n"+body)
}

// used returns the parts of a prelude without the functions that neither the body of a procedure
// nor another part calls or passes on: each execution would make them.
func used(parts []string, body string) string {
	for i, part := range parts {
		name := preludeFunction.FindStringSubmatch(part)
		others := slices.Concat(parts[:i], parts[i+1:])
		if name != nil && !regexp.MustCompile(`\b`+name[1]+`[(),]`).MatchString(strings.Join(others, "")+body) {
			return used(others, body)
		}
	}
	return strings.Join(parts, "\n\n")
}

var preludeFunction = regexp.MustCompile(`(?m)^  function (\w+)`)

func newTrigger(name, container string) cosmos.Script {
	s := scriptOf(name, container, readScript(name))
	s.Trigger = true
	return s
}

func readScript(name string) string {
	body, err := scriptFiles.ReadFile("js/" + name + ".js")
	if err != nil {
		panic(err) // the files are embedded
	}
	return string(body)
}

// scriptOf returns a script. The version in its id is derived from the body's hash.
func scriptOf(name, container, body string) cosmos.Script {
	sum := sha256.Sum256([]byte(body))
	version := hex.EncodeToString(sum[:])[:scriptVersionLength]
	return cosmos.Script{ID: name + "-" + version, Container: container, Body: body}
}

// VersionsOf returns those of a container's scripts that are versions of a script of this program,
// this one included, in the order of their registration.
func VersionsOf(script cosmos.Script, registered []cosmos.RegisteredScript) []cosmos.RegisteredScript {
	name := nameOf(script.ID)
	versions := slices.DeleteFunc(slices.Clone(registered), func(r cosmos.RegisteredScript) bool {
		return nameOf(r.ID) != name || len(r.ID) != len(name)+1+scriptVersionLength
	})
	slices.SortStableFunc(versions, func(a, b cosmos.RegisteredScript) int { return cmp.Compare(a.Registered, b.Registered) })
	return versions
}

// nameOf returns the name in a script's id, without its version.
func nameOf(id string) string {
	name, _, _ := strings.Cut(id, "-")
	return name
}

// Codes in the answers of procedures. With any code except OK, nothing was written.
const (
	CodeOK                 = "OK"
	CodePostNotFound       = "POST_NOT_FOUND"
	CodeCommentNotFound    = "COMMENT_NOT_FOUND"
	CodeCommentDeleted     = "COMMENT_DELETED"
	CodeKeyReused          = "KEY_REUSED"
	CodeForbidden          = "FORBIDDEN"
	CodeLikeChanged        = "LIKE_CHANGED"
	CodeTooLate            = "TOO_LATE"
	CodeReservationChanged = "RESERVATION_CHANGED"
)

// UnknownCode returns the INTERNAL error for a code that the caller of a procedure does not expect.
func UnknownCode(code string) error {
	return &blog.Error{Code: blog.Internal, Message: "A stored procedure failed.", Err: fmt.Errorf("unknown code %q", code)}
}

// Execute executes a stored procedure as DB.Execute does. Error: *MissingError if the procedure is
// not registered, also after the waits of DB.BackOff: provision may be about to register it again.
// A missing item is not such an error: our procedures report it by a code.
func Execute(
	ctx context.Context, db *cosmos.DB, procedure cosmos.Script, partition string, argument, result any,
) (repeated bool, err error) {
	for try := 1; ; try++ {
		more, err := db.Execute(ctx, procedure, partition, argument, result)
		repeated = repeated || more
		switch {
		case !cosmos.IsNotFound(err):
			return repeated, err
		case !db.BackOff(ctx, try):
			return repeated, NewMissingError(db, nil, []string{procedure.ID})
		}
	}
}
