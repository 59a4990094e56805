package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cosmosblog/blog"
	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store"
)

var removeText = text{
	short: "Removes any post, comment or user",
	long: `Deletes a post with its comments and likes, a comment, or a user with all their items, like the
author's own deletion. ID is the API's id; of a comment, the stored one (c_…) too. A projector deletes
dependent items afterwards: that of a server, unless it runs with --projector=false, or a separate
one. It may run alongside a server.
`,
}

// removal removes one kind of target. remove returns a sentence about what it removed.
type removal struct {
	kind   blog.Type
	remove func(ctx context.Context, s *store.Store, ref blog.Ref) (string, error)
}

// removals are the kinds of targets by their argument on the command line.
var removals = map[string]removal{
	"post":    {blog.TypePost, removePost},
	"comment": {blog.TypeComment, removeComment},
	"user":    {blog.TypeUser, removeUser},
}

// withTargetArguments adds the arguments kind and ID to a command.
func withTargetArguments(command *cobra.Command) *cobra.Command {
	command.Use += " post|comment|user ID"
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 2 {
			if _, ok := removals[args[0]]; ok {
				return nil
			}
		}
		return errors.New("name one target: remove post ID, remove comment ID, or remove user ID")
	}
	return command
}

func runRemove(ctx context.Context, task Task) error {
	removal := removals[task.Args[0]]
	ref, err := parseTarget(removal.kind, task.Args[1])
	if err != nil {
		return err
	}
	return withExisting(ctx, task, func(r *lifecycle.Runner, database *datafolder.Database) error {
		removed, err := removal.remove(r.Context(), store.New(database.DB), ref)
		if rejection, ok := errors.AsType[*blog.Error](err); ok && rejection.Code == blog.NotFound {
			return fmt.Errorf("%s: %s Nothing was removed in %s", task.Args[1], rejection.Message, database.Place)
		}
		if err != nil {
			return err
		}
		task.Printf("%s, in %s\n", removed, database.Place)
		return nil
	})
}

// parseTarget parses an id: the API's or, of a comment, the stored one. The stored id of a comment
// does not contain its partition key; the returned one is then empty.
func parseTarget(kind blog.Type, id string) (blog.Ref, error) {
	if kind == blog.TypeComment && blog.IsCommentID(id) {
		return blog.Ref{Type: kind, ID: id}, nil
	}
	ref, err := blog.ParseRef(id)
	switch {
	case err != nil:
		return ref, fmt.Errorf("%q is not an id: use the API's `id` field", id)
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
	return fmt.Sprintf("removed the comment %s of %s on the post %s",
		comment.ID, comment.Author.Username, comment.Post.ID), err
}

func removeUser(ctx context.Context, s *store.Store, ref blog.Ref) (string, error) {
	user, err := s.User(ctx, ref.ID)
	if err != nil {
		return "", err
	}
	_, err = s.DeleteUser(ctx, user.ID, user.Username)
	return fmt.Sprintf("removed the user %s, %s, with %d posts; "+
		"the projector deletes their items and frees the username",
		user.ID, user.Username, user.PostCount), err
}
