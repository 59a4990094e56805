package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/export"
	"cosmosblog/store/follow"
)

var exportText = text{
	short: "Writes a copy for analysis as Parquet files, and keeps it up to date",
	long: `Writes users, posts, tags, comments and likes to Parquet files. The first run writes
everything, and each later run what has changed since. docs/analytics.md has the tables and
questions to ask. The database may be in use. It is only read. Interrupted exports resume.

Deleted items are visible in the database for seven days. If the last run is older than six days,
the export reads everything again.
`,
}

func runExport(ctx context.Context, task Task) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		options := task.database()
		options.ReadOnly = true
		from, err := datafolder.OpenExisting(r, options)
		if err != nil {
			return err
		}
		return exportItems(r.Context(), task, from)
	})
}

func exportItems(ctx context.Context, task Task, from *datafolder.Database) error {
	c := task.Config
	source, err := sourceOfExport(task)
	if err != nil {
		return err
	}
	limit := &cosmos.ChargeLimit{PerSecond: chargeLimit(c)}
	bar := feedBar{to: task.Stderr}
	malformed := atomic.Int64{}
	result, err := export.Run(limit.Context(ctx), from.DB, export.Options{
		Folder:   c.ExportTo,
		Source:   source,
		Progress: func(p follow.Progress) { bar.update(int(p.Done), int(p.Total)) },
		StartsAgain: func(reason string) {
			bar.restart()
			task.note("The export reads everything again: %s.", reason)
		},
		Malformed: func(err error) {
			malformed.Add(1)
			task.Logger.Warn("export", "error", err)
		},
	})
	bar.end()
	if err != nil {
		return exportInterrupted(ctx, err)
	}
	if n := malformed.Load(); n > 0 {
		task.note("%d items cannot be decoded or lack their content. The log has the reasons.", n)
	}
	task.Printf("wrote %d rows of users, %d of posts, %d of tags, %d of comments and %d of likes to %s, for %.0f RU, from %s\n",
		result.Users, result.Posts, result.Tags, result.Comments, result.Likes, c.ExportTo, limit.Spent(), from.Place)
	task.Printf("the export has all changes up to %s\n", result.UpTo.UTC().Format(time.RFC3339))
	return nil
}

// sourceOfExport returns the name by which a later run recognises the database. A data folder that
// was deleted and created again is another one.
func sourceOfExport(task Task) (string, error) {
	c := task.Config
	name := placeName(c.Endpoint, c.Data, c.Database)
	if c.Endpoint != "" {
		return name, nil
	}
	fingerprint, err := datafolder.Fingerprint(c.Data)
	return strings.TrimSpace(name + " " + fingerprint), err
}

// exportInterrupted returns the error of an export that did not finish. If another run may finish
// it, the error says so, also after a signal: who starts exports by a schedule must know of those
// that did not finish.
func exportInterrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	_, damaged := errors.AsType[*datafolder.DamageError](err)
	_, inUse := errors.AsType[*export.InUseError](err)
	_, unusable := errors.AsType[*export.FolderError](err)
	_, late := errors.AsType[*export.LateError](err)
	const advice = "the export was interrupted: run the same command to resume it"
	switch {
	case damaged, inUse, unusable, late:
		return err
	case errors.Is(err, context.Canceled):
		return errors.New(advice)
	}
	return fmt.Errorf("%s (%s)", advice, firstLine(err))
}

// placeName returns a name of a database by which a later run recognises it: of an endpoint, or of
// a data folder.
func placeName(endpoint, folder, database string) string {
	if endpoint != "" {
		return endpoint + " " + database
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		path = folder
	}
	return path + " " + database
}
