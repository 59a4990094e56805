package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// openInMemory gives the database of an engine that this process owns.
func openInMemory(t *testing.T) *Database {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := store.OpenEmbedded(t.Context(), engine, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Database{Store: opened, Engine: engine}
}

// Commands of others, who use the folder through its owner, have as long as everywhere.
func TestViewsAreMadeWithTheDeadlineOfCommands(t *testing.T) {
	if d := settleOptions(openInMemory(t), Task{}).CommandDeadline; d != 0 {
		t.Errorf("the deadline is %v, not the projector's own", d)
	}
}

func aUser(t *testing.T, s *store.Store, name string) *blog.User {
	t.Helper()
	user, err := s.CreateUser(t.Context(), blog.Account{Issuer: "test", Subject: name}, name)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// A blog that is in use all the time does not keep the views from being made.
func TestViewsAreMadeWhileOthersWrite(t *testing.T) {
	database := openInMemory(t)
	ada := aUser(t, database.Store, "Ada")
	post, err := database.Store.CreatePost(t.Context(), ada, blog.PostInput{Title: "A title", Content: "Some content."})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx, stop := Start(ctx, "writer", func(ctx context.Context) error {
		for ctx.Err() == nil {
			if _, err := database.Store.LikePost(ctx, ada, post.ID); err != nil {
				return err
			}
			if _, err := database.Store.UnlikePost(ctx, ada.ID, post.ID); err != nil {
				return err
			}
		}
		return nil
	})
	task := Task{Environment: Environment{Stderr: io.Discard}, Logger: slog.New(slog.DiscardHandler)}
	if err := makeViews(ctx, task, database); err != nil {
		t.Error(err)
	}
	_ = stop() // it was in the middle of a command
	feed, err := database.Store.Feed(t.Context(), blog.PageRequest{First: 1})
	if err != nil || len(feed.Items) != 1 {
		t.Errorf("the feed has %d posts, %v", len(feed.Items), err)
	}
}

// What was recorded is waited for until it is done or a later rename takes its place, and what it waits for is told.
func TestSettlingWaitsForWhatWasRecorded(t *testing.T) {
	s, ctx := openInMemory(t).Store, t.Context()
	record := func(id string, revision int64) {
		t.Helper()
		if err := s.RecordSweep(ctx, store.Sweep{UserID: id, AuthorRevision: revision}); err != nil {
			t.Fatal(err)
		}
	}
	record("u_a", 3)
	var told strings.Builder
	now, looks := time.Unix(0, 0), 0
	waiting := &settling{s, &told, func() time.Time {
		if looks++; looks == 2 { // after the first look
			record("u_a", 4)
			record("u_b", 3)
		}
		now = now.Add(lineInterval)
		return now
	}}
	recorded, err := waiting.recorded(ctx)
	if err != nil || len(recorded) != 1 {
		t.Fatalf("recorded: %v, %v", recorded, err)
	}
	if err := waiting.chores(ctx, recorded); err != nil {
		t.Fatal(err)
	}
	if want := "making the views: 1 renames and deletions left\n"; told.String() != want {
		t.Errorf("told %q, want %q", told.String(), want)
	}
}

// What follows from a deletion is done when the views are made.
func TestViewsAreMadeWithPurges(t *testing.T) {
	database := openInMemory(t)
	s, ada := database.Store, aUser(t, database.Store, "Ada")
	thread := store.Thread{Post: &blog.Post{ID: "p_a", Author: ada, Title: "A title", Content: "…", CreationDate: "2026"}}
	for i := range 250 {
		thread.Likes = append(thread.Likes, &blog.Like{User: &blog.User{ID: fmt.Sprint("u_", i), Username: "someone", Revision: 2}, CreationDate: "2026"})
	}
	if _, err := s.WriteThread(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeletePost(t.Context(), ada.ID, "p_a"); err != nil {
		t.Fatal(err)
	}
	task := Task{Environment: Environment{Stderr: io.Discard}, Logger: slog.New(slog.DiscardHandler)}
	if err := makeViews(t.Context(), task, database); err != nil {
		t.Fatal(err)
	}
	purges, err := s.Purges(t.Context(), 10)
	if err != nil || len(purges) > 0 {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
	if change, err := s.Change(t.Context(), store.PostsContainer, "p_a", "p_a"); err != nil || !change.Expires {
		t.Errorf("the post is %+v, %v", change, err)
	}
}

// A deletion that waits for what was set aside is not waited for: the command may be what is to mend that.
func TestSettlingEndsBehindADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := openInMemory(t).Store, t.Context()
		if err := s.RecordDeletion(ctx, store.Deletion{UserID: "u_a", Revision: 3}); err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		waiting := &settling{s, &told, time.Now}
		recorded, err := waiting.recorded(ctx)
		if err != nil || len(recorded) != 1 {
			t.Fatalf("recorded: %v, %v", recorded, err)
		}
		const long = 10 * time.Minute
		short, cancel := context.WithTimeout(ctx, long)
		defer cancel()
		if err := waiting.chores(short, recorded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a letter: %v", err)
		}
		letter := store.DeadLetter{Projection: "userPosts", Container: "posts", PartitionKey: "p_1", ItemID: "p_1", Reason: "no", Attempts: 5}
		if err := s.SetAside(ctx, letter); err != nil {
			t.Fatal(err)
		}
		short, cancel = context.WithTimeout(ctx, long)
		defer cancel()
		told.Reset()
		if err := waiting.chores(short, recorded); err != nil || !strings.Contains(told.String(), "1 renames and deletions are not waited for any longer") {
			t.Errorf("%v, told %.300q", err, told.String())
		}
	})
}
