package command

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress tells how far a long command is: how much is done, how fast it goes, and how long it may take yet. On a
// terminal it is a bar, elsewhere a line every few seconds. It may be used concurrently.
type progress struct {
	to    io.Writer
	what  string // is counted, in the plural
	total int
	begun time.Time
	now   func() time.Time
	bar   *progressbar.ProgressBar // nil where there is no terminal

	mu   sync.Mutex // guards what follows
	done int
	told time.Time // when the last line was written
}

// newProgress begins to tell of so many things that are to be done.
func newProgress(to io.Writer, what string, total int) *progress {
	p := &progress{to: to, what: what, total: total, now: time.Now}
	p.begun = p.now()
	p.told = p.begun
	if isTerminal(to) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(to),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(what),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetRenderBlankState(true),
		)
	}
	return p
}

// isTerminal tells whether somebody looks at what is written.
func isTerminal(to io.Writer) bool {
	file, ok := to.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// lineInterval is the time between two lines.
const lineInterval = 5 * time.Second

// add notes that n more are done.
func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // it fails where more is done than was said, and goes on
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if now := p.now(); now.Sub(p.told) >= lineInterval {
		p.told = now
		fmt.Fprintln(p.to, p.line(now))
	}
}

// line says where things stand. What is left is reckoned from all that was done so far.
func (p *progress) line(now time.Time) string {
	rate := float64(p.done) / now.Sub(p.begun).Seconds()
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
	return fmt.Sprintf("%d of %d %s, %.0f a second, %s left", p.done, p.total, p.what, rate, left.Round(time.Second))
}

// end leaves the terminal on a new line. Nothing is told after it.
func (p *progress) end() {
	if p.bar != nil {
		fmt.Fprintln(p.to)
	}
}
