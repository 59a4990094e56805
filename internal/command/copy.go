package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cosmosblog/internal/config"
	"cosmosblog/store"
)

var copyText = text{
	short: "Copy a blog from one data folder or account to another",
	long: `Copies users, posts, comments and likes, and then makes all views of them at the other end. Both ends may be in use; what is
written to the first meanwhile is copied too, and the last of it by the next run. What did not change at the first since it was copied
stays as it is at the other end, and what is deleted there stays deleted. A copy that was broken off goes on where it ended when it is
run again.
`,
}

func runCopy(ctx context.Context, task Task) (err error) {
	c := task.Config
	if err := checkSource(c); err != nil {
		return err
	}
	from, ctx, err := OpenDatabase(ctx, endOf(task, c.From, c.FromDatabase, c.FromKey, "COPY_FROM_KEY"))
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer closing(&err, from.Close)
	target := endOf(task, c.To, c.ToDatabase, c.ToKey, "COPY_TO_KEY")
	to, ctx, err := OpenDatabase(ctx, target)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	defer closing(&err, to.Close)
	copied, err := copySources(ctx, task, from, to)
	if err != nil {
		return brokenOff(task, err)
	}
	task.Printf("copied %d users, %d posts, %d comments and %d likes from %s\n", copied.Users, copied.Posts, copied.Comments, copied.Likes, from.Place)
	if err := makeViews(ctx, target, to); err != nil {
		return fmt.Errorf("everything is copied, but not all views are made, which serve or projector will do: %w", err)
	}
	task.Printf("all views of it are made, in %s\n", to.Place)
	return nil
}

// brokenOff says how to go on. That somebody ended the copy is no error.
func brokenOff(task Task, err error) error {
	const advice = "the copy was broken off, and the same command goes on with it"
	_, damaged := errors.AsType[*damageError](err)
	_, conflict := errors.AsType[*store.NameConflictError](err)
	switch {
	case damaged, conflict:
		return err
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(task.Stderr, advice)
		return nil
	}
	return fmt.Errorf("%s: %s", advice, firstLine(err))
}

// checkSource refuses what would copy nothing: a data folder that is not there, which opening would make, and a copy of
// a place into itself.
func checkSource(c config.Config) error {
	if config.IsEndpoint(c.From) {
		if c.From == c.To && c.FromDatabase == c.ToDatabase {
			return errors.New("--from and --to are the same database")
		}
		return nil
	}
	there, err := os.Stat(filepath.Join(c.From, engineName))
	if errors.Is(err, fs.ErrNotExist) {
		return noDataError(c.From)
	}
	if err != nil {
		return folderError(c.From, err)
	}
	if to, err := os.Stat(filepath.Join(c.To, engineName)); err == nil && os.SameFile(there, to) {
		return errors.New("--from and --to are the same data folder")
	}
	return nil
}

func noDataError(path string) error {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return fmt.Errorf("there is no data in the folder %s: give a data folder in which a server or an engine has run", path)
}

// endOf gives the task with one end of the copy as its database.
func endOf(task Task, place, database, key, keyName string) Task {
	c := &task.Config
	c.Database = database
	if config.IsEndpoint(place) {
		c.Endpoint, c.Key, c.KeyName = place, key, keyName
	} else {
		c.Data = place
	}
	return task
}

func copySources(ctx context.Context, task Task, from, to *Database) (store.Copied, error) {
	bar := copyProgress{to: task.Stderr}
	copying := store.Copying{From: from.Store, To: to.Store, Source: sourceName(task.Config), Progress: bar.tell}
	copied, err := copying.Run(ctx)
	bar.end()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return copied, err
}

// copyProgress tells how far this run of a copy is. What an earlier run did is not counted: this one says nothing of how
// fast that went.
type copyProgress struct {
	to     io.Writer
	bar    *progress // nil until there is something to tell
	before int       // changes were copied by earlier runs
}

func (c *copyProgress) tell(p store.CopyProgress) {
	done, total := int(p.Done), int(p.Total)
	if c.bar == nil {
		c.before = done
		c.bar = newProgress(c.to, "changes", total-done)
	}
	c.bar.reach(done-c.before, total-c.before)
}

func (c *copyProgress) end() {
	if c.bar != nil {
		c.bar.end()
	}
}

// sourceName names what is copied, from one run to the next.
func sourceName(c config.Config) string {
	if config.IsEndpoint(c.From) {
		return c.From + " " + c.FromDatabase
	}
	path, err := filepath.Abs(c.From)
	if err != nil {
		path = c.From
	}
	return path + " " + c.FromDatabase
}

// reach notes that so much of so much is done, where the whole is not known from the beginning.
func (p *progress) reach(done, total int) {
	if p.bar != nil {
		p.bar.ChangeMax(total)
		_ = p.bar.Set(done)
		return
	}
	p.mu.Lock()
	more := done - p.done
	p.total = total
	p.mu.Unlock()
	p.add(more)
}
