package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/bulk"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Commands of other processes, which use the folder through its owner, keep the usual deadline.
func TestProjectAllKeepsTheDeadlineOfCommands(t *testing.T) {
	if d := catchUpOptions(&datafolder.Database{}, Task{}).SettleTime; d != 0 {
		t.Errorf("the deadline is %v, not the projector's default", d)
	}
}

// A command that runs a projector for a while does not take the live leases of a server that renews
// them every 25 seconds.
func TestCommandsLeaveLiveLeases(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string][]string{
		config.Seed: nil, config.Copy: {"--from", "a", "--to", "b"}, config.Audit: nil, config.Rebuild: nil,
	} {
		task := taskOf(t, name, arguments, map[string]string{"COSMOSBLOG_LEASE_EXPIRE": "60s"})
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := openInMemory(t)
				database := &datafolder.Database{DB: s.DB}
				server := projectorOptions(database, task)
				server.Owner, server.Renew, server.Expire = "server", 25*time.Second, time.Minute
				runBriefly(t, server, catchUpOptions(database, task))
				leases, err := s.Leases(t.Context())
				if err != nil || len(leases) == 0 {
					t.Fatalf("leases: %v, %v", leases, err)
				}
				for _, lease := range leases {
					if lease.Owner != server.Owner {
						t.Errorf("lease %s is held by %q", lease.ID, lease.Owner)
					}
				}
			})
		})
	}
}

// The projector of a command renews its leases in time, however soon these expire.
func TestCatchUpRenewsBeforeLeasesExpire(t *testing.T) {
	for _, expire := range []time.Duration{0, 201 * time.Millisecond, time.Second, 20 * time.Second, time.Hour} {
		task := quiet(io.Discard)
		task.Config.LeaseExpire = expire
		options := catchUpOptions(&datafolder.Database{DB: new(cosmos.DB)}, task)
		if options.Renew <= 0 || options.Renew > catchUpRenew || expire > 0 && options.Renew > expire/3 {
			t.Errorf("expiry %v: renewed every %v", expire, options.Renew)
		}
	}
}

// A projector's leases expire after --lease-expire.
func TestLeasesExpire(t *testing.T) {
	for arguments, want := range map[string]time.Duration{"": 20 * time.Second, "--lease-expire=1m": time.Minute} {
		task := taskOf(t, config.Projector, strings.Fields(arguments), nil)
		if options := projectorOptions(&datafolder.Database{DB: new(cosmos.DB)}, task); options.Expire != want {
			t.Errorf("%q: expiry after %v", arguments, options.Expire)
		}
	}
}

// taskOf returns the task that a command line and an environment start.
func taskOf(t *testing.T, name string, arguments []string, variables map[string]string) (task Task) {
	t.Helper()
	environment := quiet(io.Discard).Environment
	environment.LookupEnv = func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
	command := build(environment, name, text{}, func(_ context.Context, started Task) error {
		task = started
		return nil
	})
	command.SetArgs(arguments)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return task
}

// runBriefly runs one projector, and ten seconds later a second one beside it for a minute. It
// returns while the first one runs.
func runBriefly(t *testing.T, first, second projector.Options) {
	t.Helper()
	start := func(ctx context.Context, options projector.Options) {
		p, err := projector.New(options)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	start(t.Context(), first)
	time.Sleep(10 * time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start(ctx, second)
	time.Sleep(time.Minute)
}

// Writes that never stop do not keep projectAll from finishing. It also waits for the purge of a
// deleted post.
func TestProjectAll(t *testing.T) {
	t.Parallel()
	database := openFolder(t)
	s := storetest.Open(database.DB)
	ada := createUser(t, s, "Ada")
	post, err := s.CreatePost(t.Context(), ada, blog.CreatePostInput{Title: "A title", Content: "Some content."})
	if err != nil {
		t.Fatal(err)
	}
	deletePostWithLikes(t, s, ada)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// The writer may return an error, because it ends in the middle of a command.
	_ = lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		r.Go("writer", func(ctx context.Context) error {
			for ctx.Err() == nil {
				if _, err := s.LikePost(ctx, ada, post.ID); err != nil {
					return err
				}
				if _, err := s.UnlikePost(ctx, ada, post.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err := projectAll(r.Context(), quiet(io.Discard), database); err != nil {
			t.Error(err)
		}
		return nil
	})
	feed, err := s.Feed(t.Context(), blog.PageRequest{First: 1})
	if err != nil || len(feed.Items) != 1 {
		t.Errorf("the feed has %d posts, %v", len(feed.Items), err)
	}
	purges, err := s.Purges(t.Context(), 10)
	if err != nil || len(purges) > 0 {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
	change, err := s.Change(t.Context(), schema.Posts, "p_a", "p_a")
	if err != nil || !change.Expires {
		t.Errorf("the deleted post is %+v, %v", change, err)
	}
}

// deletePostWithLikes writes the post p_a with many likes, and deletes it.
func deletePostWithLikes(t *testing.T, s *storetest.Database, author *blog.User) {
	t.Helper()
	thread := bulk.Thread{Post: &blog.Post{
		ID: "p_a", Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: "…", CreationDate: "2026",
	}}
	for i := range 250 {
		user := &blog.User{ID: fmt.Sprint("u_", i), Username: "someone", Revision: 2}
		thread.Likes = append(thread.Likes, &blog.Like{User: user, CreationDate: "2026"})
	}
	if _, err := s.WriteThread(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeletePost(t.Context(), author.ID, "p_a"); err != nil {
		t.Fatal(err)
	}
}

// A recorded sweep ends when it is done or a later rename replaces it. The number of chores left is
// printed.
func TestCatchUpWaitsForRecordedChores(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ctx := openInMemory(t), t.Context()
		record := func(id string, revision int64) {
			t.Helper()
			if err := s.RecordSweep(ctx, chores.Sweep{UserID: id, AuthorRevision: revision}); err != nil {
				t.Fatal(err)
			}
		}
		record("u_a", 3)
		var printed strings.Builder
		c := &catchUp{s.Feeds, s.Chores, &printed}
		recorded, err := c.recorded(ctx)
		if err != nil || len(recorded) != 1 {
			t.Fatalf("recorded: %v, %v", recorded, err)
		}
		go func() {
			time.Sleep(lineInterval + 300*time.Millisecond) // between two polls
			record("u_b", 3)
			record("u_a", 4)
		}()
		if err := c.chores(ctx, recorded); err != nil {
			t.Fatal(err)
		}
		if want := "building the views: 1 renames and deletions left\n"; printed.String() != want {
			t.Errorf("printed %q, want %q", printed.String(), want)
		}
	})
}

// A deletion may be blocked by a dead letter. The waiting command may be the one that repairs
// the item, so it must not wait forever.
func TestCatchUpEndsIfThereAreDeadLetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ctx := openInMemory(t), t.Context()
		if err := s.RecordDeletion(ctx, chores.Deletion{UserID: "u_a", Revision: 3}); err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		c := &catchUp{s.Feeds, s.Chores, &printed}
		recorded, err := c.recorded(ctx)
		if err != nil || len(recorded) != 1 {
			t.Fatalf("recorded: %v, %v", recorded, err)
		}
		const long = time.Minute // longer than stalledPolls
		limited, cancel := context.WithTimeout(ctx, long)
		defer cancel()
		if err := c.chores(limited, recorded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a dead letter: %v", err)
		}
		letter := changefeed.DeadLetter{
			Projection: "userPosts", Container: "posts", PartitionKey: "p_1", ItemID: "p_1", Reason: "no", Attempts: 5,
		}
		if err := s.WriteDeadLetter(ctx, letter); err != nil {
			t.Fatal(err)
		}
		limited, cancel = context.WithTimeout(ctx, long)
		defer cancel()
		printed.Reset()
		err = c.chores(limited, recorded)
		if err != nil || !strings.Contains(printed.String(), "not waiting for 1 renames and deletions any longer") {
			t.Errorf("%v, printed %.300q", err, printed.String())
		}
	})
}
