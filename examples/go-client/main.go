// Command go-client reads and writes a blog of cosmosblog with a typed client, which genqlient
// generates from the schema and the documents in the folder documents. README.md begins at nothing.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

//go:generate go tool genqlient

const usage = `Usage: go run . [-url URL] COMMAND

  feed [-first N] [-all]   prints the first page of the feed, or all pages, of N posts each
  live POST                prints the newest comments of a post, and then each new one
  join NAME                gives your account a user
  publish TITLE CONTENT    publishes a post
  like POST                likes a post
  comment POST CONTENT     comments on a post

POST is the id of a post. Writing needs a token in the variable TOKEN.
`

func main() {
	url := flag.String("url", "http://127.0.0.1:8080/graphql", "")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := newBlog(*url, os.Getenv("TOKEN"))
	if err := b.run(ctx, flag.Arg(0), flag.Args()); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, describe(err))
		os.Exit(1)
	}
}

func (b blog) run(ctx context.Context, command string, arguments []string) error {
	switch {
	case command == "feed":
		flags := flag.NewFlagSet("feed", flag.ExitOnError)
		first := flags.Int("first", 10, "the number of posts of a page, 0 to 100")
		all := flags.Bool("all", false, "print all pages")
		_ = flags.Parse(arguments[1:]) // exits if there is an error
		return b.feed(ctx, *first, *all)
	case command == "live" && len(arguments) == 2:
		return b.live(ctx, arguments[1])
	case command == "join" && len(arguments) == 2:
		return b.join(ctx, arguments[1])
	case command == "publish" && len(arguments) == 3:
		return b.publish(ctx, arguments[1], arguments[2])
	case command == "like" && len(arguments) == 2:
		return b.like(ctx, arguments[1])
	case command == "comment" && len(arguments) == 3:
		return b.comment(ctx, arguments[1], arguments[2])
	}
	flag.Usage()
	return errors.New("the command is not one of these")
}

// feed prints the first page of the feed. With all, it follows the cursors to the last page.
func (b blog) feed(ctx context.Context, first int, all bool) error {
	var after *string // nil for the first page
	for {
		answer, err := Feed(ctx, b, first, after)
		if err != nil {
			return err
		}
		for _, post := range answer.Feed.Nodes {
			fmt.Printf("%s  %s, by %s: %s, %s\n", post.Id, post.Title, post.Author.Username,
				count(post.LikeCount, "like"), count(post.CommentCount, "comment"))
		}
		page := answer.Feed.PageInfo
		if !page.HasNextPage || page.EndCursor == nil { // it is nil if first is 0
			return nil
		}
		if !all {
			fmt.Println("There are more posts.")
			return nil
		}
		after = page.EndCursor
	}
}

// join creates the user of the account. It can be repeated.
func (b blog) join(ctx context.Context, username string) error {
	answer, err := CreateUser(ctx, b, username)
	if err != nil {
		return err
	}
	fmt.Println("You are", answer.CreateUser.User.Username)
	return nil
}

func (b blog) publish(ctx context.Context, title, content string) error {
	answer, err := CreatePost(ctx, b, title, content, rand.Text())
	if err != nil {
		return err
	}
	fmt.Println(answer.CreatePost.Post.Id)
	return nil
}

// like likes a post. Who likes it again changes nothing, so this needs no idempotency key.
func (b blog) like(ctx context.Context, postID string) error {
	answer, err := LikePost(ctx, b, postID)
	if err != nil {
		return err
	}
	post := answer.LikePost.Post
	fmt.Printf("%s has %s\n", post.Title, count(post.LikeCount, "like"))
	return nil
}

func (b blog) comment(ctx context.Context, postID, content string) error {
	answer, err := CreateComment(ctx, b, postID, content, rand.Text())
	if err != nil {
		return err
	}
	fmt.Println("The post has", count(answer.CreateComment.Post.CommentCount, "comment"))
	return nil
}

// count returns a number and its noun. Fields that can be null are pointers.
func count(n *int, noun string) string {
	switch {
	case n == nil:
		return "? " + noun + "s"
	case *n == 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", *n, noun)
}
