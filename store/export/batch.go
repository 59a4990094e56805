package export

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// maxGroupBytes is the size of the rows of a row group, which are in memory until the group is
// written. A row is counted as it is before it is encoded.
const maxGroupBytes = 8 << 20

// batch writes the files of the current batch to the folder unfinished. Of its methods and
// functions, only add may be used concurrently.
//
// After the first error, all of them return it: a file may lack rows, so the batch must not be
// committed.
type batch struct {
	folder string
	before func(step string) error // folder.before
	// added is called after rows were added, by one goroutine at a time. It may finish the batch and
	// begin the next one.
	added func() error

	mu       sync.Mutex // guards the fields below while add may be called
	failed   error
	number   int64
	date     string // of the rows that come
	files    int    // that were begun
	rows     int64
	bytes    int64
	drafts   []draft
	users    table[User]
	posts    table[Post]
	tags     table[Tag]
	comments table[Comment]
	likes    table[Like]
}

func newBatch(f *folder, added func() error) *batch {
	b := &batch{folder: f.file(unfinishedName), before: f.before, added: added, number: f.manifest.LastBatch + 1}
	b.users.name, b.posts.name, b.tags.name = UsersTable, PostsTable, TagsTable
	b.comments.name, b.likes.name = CommentsTable, LikesTable
	return b
}

// tables are the tables of a batch.
func (b *batch) tables() []openTable {
	return []openTable{&b.users, &b.posts, &b.tags, &b.comments, &b.likes}
}

// setDate finishes all files that have another date. The rows that follow are of this date.
func (b *batch) setDate(date string) error {
	if b.date == date {
		return nil
	}
	err := b.finish()
	b.date = date
	return err
}

// fail records an error, and returns it.
func (b *batch) fail(err error) error {
	if b.failed == nil {
		b.failed = err
	}
	return err
}

// beginAll begins a file of each table that has none of the batch's date. If there is none, date is
// that of the files.
func (b *batch) beginAll(date string) error {
	b.date = cmp.Or(b.date, date)
	for _, t := range b.tables() {
		if err := t.begin(b); err != nil {
			return b.fail(err)
		}
	}
	return nil
}

// finish completes all files of the batch, up to their stable storage.
func (b *batch) finish() error {
	if b.failed != nil {
		return b.failed
	}
	for _, t := range b.tables() {
		if err := t.finish(b); err != nil {
			return b.fail(err)
		}
	}
	return nil
}

// close closes the files of a batch that is not committed. The next run removes them.
func (b *batch) close() {
	for _, t := range b.tables() {
		t.close()
	}
}

// next begins another batch after a commit, with the same memory for its rows.
func (b *batch) next(number int64) {
	b.number, b.files, b.rows, b.bytes, b.drafts = number, 0, 0, 0, nil
}

// openTable is a table of any type of rows.
type openTable interface {
	begin(*batch) error
	finish(*batch) error
	close()
}

// table writes the rows of one table. A file is open while rows of one date come.
type table[T interface{ size() int }] struct {
	name   string
	file   *os.File // nil if none is open
	writer *parquet.GenericWriter[T]
	group  int   // size of the rows in the current row group
	rows   int64 // of all files
}

// add writes rows to the file of the batch's date.
func add[T interface{ size() int }](b *batch, t *table[T], rows ...T) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(rows) == 0 || b.failed != nil {
		return b.failed
	}
	if err := t.write(b, rows); err != nil {
		return b.fail(err)
	}
	return b.fail(b.added())
}

func (t *table[T]) write(b *batch, rows []T) error {
	if err := t.begin(b); err != nil {
		return err
	}
	size := 0
	for _, row := range rows {
		size += row.size()
	}
	if t.group > 0 && t.group+size > maxGroupBytes {
		if err := t.writer.Flush(); err != nil {
			return err
		}
		t.group = 0
	}
	if _, err := t.writer.Write(rows); err != nil {
		return err
	}
	t.group += size
	t.rows += int64(len(rows))
	b.rows += int64(len(rows))
	b.bytes += int64(size)
	return nil
}

// begin begins a file, unless one is open.
func (t *table[T]) begin(b *batch) (err error) {
	if t.file != nil {
		return nil
	}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return err
	}
	b.files++
	path := filepath.Join(b.folder, t.name+"-"+fileName(b.number, b.files))
	if t.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	b.drafts = append(b.drafts, draft{path, t.name, b.date, fileName(b.number, b.files)})
	if t.writer == nil {
		t.writer = parquet.NewGenericWriter[T](t.file, parquet.Compression(&parquet.Zstd),
			// Every statistic would have two whole texts.
			parquet.SkipPageStatistics("content"), parquet.SkipPageBounds("content"),
			parquet.SkipPageStatistics("title"), parquet.SkipPageBounds("title"))
	} else {
		t.writer.Reset(t.file)
	}
	t.group = 0
	return nil
}

// finish completes the open file, if there is one.
func (t *table[T]) finish(b *batch) error {
	if t.file == nil {
		return nil
	}
	err := errors.Join(b.before("finish a file"), t.writer.Close(), t.file.Sync(), t.file.Close())
	t.file = nil
	return err
}

func (t *table[T]) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}
