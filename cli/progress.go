package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how much of a long command is done, its rate, and the time left. On a terminal
// it is a bar, otherwise a line every few seconds. It may be used concurrently.
type progress struct {
	to      io.Writer
	unit    string // in the plural
	started time.Time
	bar     *progressbar.ProgressBar // nil if there is no terminal

	mu      sync.Mutex // guards the fields below
	done    int
	total   int       // or unknown
	printed time.Time // when the last line was printed
}

// unknown is the total of a progress whose end nobody knows.
const unknown = -1

func newProgress(to io.Writer, unit string, total int) *progress {
	now := time.Now()
	p := &progress{to: to, unit: unit, total: total, started: now, printed: now}
	if isTerminal(to) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(to),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unit),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetRenderBlankState(true),
		)
	}
	return p
}

func isTerminal(to io.Writer) bool {
	file, ok := to.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

const lineInterval = 5 * time.Second

// add records that n more are done.
func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // fails if more is done than the total
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(p.done+n, p.total)
}

// newReadProgress returns the progress of a command that has a total of changes to read, or 0 if it
// reads items, whose number nobody knows.
func newReadProgress(to io.Writer, total int) *progress {
	if total == 0 {
		return newProgress(to, "items", unknown)
	}
	return newProgress(to, "changes", total)
}

// set records how much is done of a total that may grow.
func (p *progress) set(done, total int) {
	if p.bar != nil {
		p.bar.ChangeMax(total)
		_ = p.bar.Set(done)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(done, total)
}

func (p *progress) print(done, total int) {
	p.done, p.total = done, total
	if now := time.Now(); now.Sub(p.printed) >= lineInterval {
		p.printed = now
		fmt.Fprintln(p.to, p.line(now))
	}
}

// line returns a line of progress. The time left follows from the mean rate so far.
func (p *progress) line(now time.Time) string {
	rate := float64(p.done) / now.Sub(p.started).Seconds()
	if p.total == unknown {
		return fmt.Sprintf("%d %s, %.0f a second", p.done, p.unit, rate)
	}
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
	return fmt.Sprintf("%d of %d %s, %.0f a second, %s left", p.done, p.total, p.unit, rate, left.Round(time.Second))
}

// end moves the terminal to a new line. It must be called last.
func (p *progress) end() {
	if p.bar != nil {
		fmt.Fprintln(p.to)
	}
}

// feedBar shows the progress of this run of a command that reads change feeds and resumes. It
// excludes what earlier runs read, which would distort the rate. A command that reads items by
// query first, whose number nobody knows, has a bar for each.
type feedBar struct {
	to     io.Writer
	bar    *progress // nil until the total is known
	before int       // changes that earlier runs read
}

// update shows how much is done. total is 0 if it is unknown.
func (b *feedBar) update(done, total int) {
	if b.bar != nil && (b.bar.total == unknown) != (total == 0) {
		b.restart()
	}
	if b.bar == nil {
		b.before = done
		b.bar = newReadProgress(b.to, total)
	}
	if total == 0 {
		b.bar.set(max(0, done-b.before), unknown)
	} else {
		b.bar.set(max(0, done-b.before), total-b.before)
	}
}

// restart begins a new bar, because the command reads everything again.
func (b *feedBar) restart() {
	b.end()
	b.bar = nil
}

func (b *feedBar) end() {
	if b.bar != nil {
		b.bar.end()
	}
}
