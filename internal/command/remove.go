package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

var removeText = text{
	short: "Remove a post, a comment or a user, whoever wrote it",
	long: `Deletes what an operator wants gone, as its author would have: a post with its comments and likes, a comment, or a user with
all that is theirs. ID is the id that the API gives, or the one that is stored (p_…, c_…, u_…). The projector, which runs in
every server, does what follows. It may run beside a server.
`,
}

// removals are what can be removed, by the word on the command line.
var removals = map[string]struct {
	kind   blog.Type
	remove func(ctx context.Context, s *store.Store, ref blog.Ref) (what string, err error)
}{
	"post":    {blog.TypePost, removePost},
	"comment": {blog.TypeComment, removeComment},
	"user":    {blog.TypeUser, removeUser},
}

// takingTarget makes a command take the kind and the id of one thing beside its flags.
func takingTarget(command *cobra.Command) *cobra.Command {
	command.Use += " post|comment|user ID"
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 2 {
			if _, ok := removals[args[0]]; ok {
				return nil
			}
		}
		return errors.New("name one thing: remove post ID, remove comment ID, or remove user ID")
	}
	return command
}

func runRemove(ctx context.Context, task Task) (err error) {
	removal := removals[task.Args[0]]
	ref, err := target(removal.kind, task.Args[1])
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(task.Config.Data, engineName)); task.Config.Endpoint == "" && errors.Is(err, fs.ErrNotExist) {
		return noDataError(task.Config.Data) // rather than make it
	}
	database, ctx, err := OpenDatabase(ctx, task)
	if err != nil {
		return err
	}
	defer closing(&err, database.Close)
	what, err := removal.remove(ctx, database.Store, ref)
	if refusal, ok := errors.AsType[*blog.Error](err); ok && refusal.Code == blog.NotFound {
		return fmt.Errorf("%s: %s Nothing was removed in %s", task.Args[1], refusal.Message, database.Place)
	}
	if err != nil {
		return err
	}
	task.Printf("%s, in %s\n", what, database.Place)
	return nil
}

// target reads the id of a thing: the API's, or the stored one. A comment's stored id does not tell its partition, which
// is then empty.
func target(kind blog.Type, id string) (blog.Ref, error) {
	ref, err := model.UnmarshalID(id)
	if err != nil {
		ref, err = blog.ParseRef(blog.Ref{Type: kind, PartitionKey: id, ID: id}.String())
		if kind == blog.TypeComment {
			ref.PartitionKey = ""
		}
	}
	switch {
	case err != nil:
		return ref, fmt.Errorf("%q is no id: take it from the API's `id` field, or as it is stored", id)
	case ref.Type != kind:
		return ref, fmt.Errorf("%s is the id of a %s, not of a %s", id, ref.Type, kind)
	}
	return ref, nil
}

func removePost(ctx context.Context, s *store.Store, ref blog.Ref) (string, error) {
	post, err := s.Post(ctx, ref.ID)
	if err != nil {
		return "", err
	}
	_, err = s.DeletePost(ctx, post.Author.ID, post.ID)
	return fmt.Sprintf("removed the post %s of %s, %q, with %d comments and %d likes",
		post.ID, post.Author.Username, post.Title, post.CommentCount, post.LikeCount), err
}

func removeComment(ctx context.Context, s *store.Store, ref blog.Ref) (string, error) {
	if ref.PartitionKey == "" {
		postID, err := s.PostOfComment(ctx, ref.ID)
		if err != nil {
			return "", err
		}
		ref.PartitionKey = postID
	}
	comment, err := s.Comment(ctx, ref.PartitionKey, ref.ID)
	if err != nil {
		return "", err
	}
	_, err = s.DeleteComment(ctx, comment.Author.ID, comment.Post.ID, comment.ID)
	return fmt.Sprintf("removed the comment %s of %s on the post %s", comment.ID, comment.Author.Username, comment.Post.ID), err
}

func removeUser(ctx context.Context, s *store.Store, ref blog.Ref) (string, error) {
	user, err := s.User(ctx, ref.ID)
	if err != nil {
		return "", err
	}
	_, err = s.DeleteUser(ctx, user.ID, user.Username)
	return fmt.Sprintf("removed the user %s, %s, with %d posts; what they wrote and their username follow", user.ID, user.Username, user.PostCount), err
}
