package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// disks parses the flags and runs rounds in which the disk of an engine is full, cannot be written,
// or has damaged files.
func disks(ctx context.Context, arguments []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("disk", flag.ContinueOnError)
	times := flags.Int("times", 30, "number of `rounds`")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "`seed` of the random numbers")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cosmosblog-chaos-")
	if err != nil {
		return err
	}
	key := make([]byte, 64)
	p, err := buildProgram(ctx, folder, base64.StdEncoding.EncodeToString(key))
	if err != nil {
		return err
	}
	d := &diskTest{program: p, key: key, disk: filepath.Join(folder, "disk"), random: rand.New(rand.NewPCG(*seed, 0)), stored: map[string]time.Time{}}
	defer func() {
		if err == nil {
			err = os.RemoveAll(folder)
			return
		}
		if d.engine != nil {
			_ = d.engine.kill() // it may have ended
		}
		err = fmt.Errorf("%w\nseed %d; the data is in %s", err, *seed, d.data)
	}()
	d.data = filepath.Join(d.disk, "data")
	rounds := []func(context.Context) (string, error){d.fills, d.cannotBeWritten, d.isDamaged}
	if err := d.mount(ctx); err != nil {
		fmt.Fprintf(out, "NOT CHECKED: a full disk and one that cannot be written, because this process may not mount a file system: %v\n", err)
		rounds = rounds[2:]
	} else {
		defer func() {
			if err == nil { // otherwise the data stays, on the disk in memory
				err = command(context.WithoutCancel(ctx), "umount", "-l", d.disk)
			}
		}()
	}
	fmt.Fprintf(out, "seed %d: %d rounds\n", *seed, *times)
	if err := d.start(ctx); err != nil {
		return err
	}
	for _, definition := range [][2]string{{"dbs", `{"id":"chaos"}`}, {"dbs/chaos/colls", `{"id":"items","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`}} {
		if _, err := d.account.must(ctx, 201, "POST", definition[0], definition[1]); err != nil {
			return err
		}
	}
	for i := range *times {
		summary, err := rounds[i%len(rounds)](ctx)
		if err == nil {
			err = d.verify(ctx, time.Time{})
		}
		if err != nil {
			return fmt.Errorf("round %d: %s: %w", i+1, summary, err)
		}
		fmt.Fprintf(out, "round %d of %d: %s; all %d acknowledged items are there\n", i+1, *times, summary, len(d.stored))
	}
	engine := d.engine
	d.engine = nil
	return engine.end()
}

// diskTest is an engine of the program, on a file system in memory of its own if possible. Between
// the rounds, it serves.
type diskTest struct {
	program    program
	key        []byte
	disk, data string // folders
	random     *rand.Rand

	engine  *process
	account *account
	serial  int
	mu      sync.Mutex
	stored  map[string]time.Time // acknowledged items by id: their times
}

// roomy is the size of the file system if it is not to become full.
const roomy = 1 << 30

func (d *diskTest) mount(ctx context.Context) error {
	if err := os.Mkdir(d.disk, 0o700); err != nil {
		return err
	}
	return command(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", roomy), "tmpfs", d.disk)
}

func (d *diskTest) remount(ctx context.Context, options string) error {
	return command(ctx, "mount", "-o", "remount,"+options, d.disk)
}

// command runs a command. The error contains its output.
func command(ctx context.Context, name string, arguments ...string) error {
	if output, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (d *diskTest) start(ctx context.Context) (err error) {
	if d.engine, err = d.program.start(ctx, "engine", "--data", d.data, "--addr", "127.0.0.1:0"); err == nil {
		d.account = newAccount(d.engine.url, d.key, writersOfDisk)
	}
	return err
}

const writersOfDisk = 8

// write lets writers create items until most were acknowledged, or until every writer got another
// answer than 201. failed is the number of answers with 500, of which at least one came if there
// were not so many. No write that begins after such an answer may be acknowledged.
func (d *diskTest) write(ctx context.Context, most int) (failed int, err error) {
	var writers sync.WaitGroup
	text, errs := strings.Repeat("x", 1+d.random.IntN(32<<10)), make([]error, writersOfDisk)
	acknowledged := 0
	for w := range writersOfDisk {
		writers.Go(func() {
			for {
				d.mu.Lock()
				d.serial++
				id, isLate, isEnough := fmt.Sprint("item-", d.serial), failed > 0, acknowledged >= most
				d.mu.Unlock()
				if isEnough {
					return
				}
				got, err := d.account.send(ctx, "POST", "dbs/chaos/colls/items/docs", fmt.Sprintf(`{"id":%q,"pk":%q,"text":%q}`, id, id, text), "pk", id)
				if err != nil && !errors.Is(err, errCut) {
					errs[w] = err
				}
				d.mu.Lock()
				switch {
				case err == nil && got.status == 201 && isLate:
					errs[w] = fmt.Errorf("%s was acknowledged after a write had failed", id)
				case err == nil && got.status == 201:
					d.stored[id] = time.Now()
					acknowledged++
				case err == nil && got.status == 500:
					failed++
				case err == nil:
					errs[w] = fmt.Errorf("%s: unexpected status %d: %s", id, got.status, got.body)
				}
				d.mu.Unlock()
				if err != nil || got.status != 201 {
					return
				}
			}
		})
	}
	writers.Wait()
	if acknowledged < most && failed == 0 {
		errs = append(errs, errors.New("the writers ended without an answer of 500"))
	}
	return failed, errors.Join(errs...)
}

// fills makes the disk full under writers. The engine must reject the write, and all later ones,
// and end with a sentence about it. With more room, it goes on.
func (d *diskTest) fills(ctx context.Context) (string, error) {
	var used syscall.Statfs_t
	if err := syscall.Statfs(d.disk, &used); err != nil {
		return "", err
	}
	size := (used.Blocks-used.Bfree)*uint64(used.Bsize) + 1<<20 + d.random.Uint64N(16<<20)
	summary := fmt.Sprintf("full at %d bytes", size)
	if err := d.remount(ctx, fmt.Sprint("size=", size)); err != nil {
		return summary, err
	}
	failed, err := d.write(ctx, 1<<30)
	if err != nil {
		return summary, err
	}
	if err := d.ends(`can no longer be written \(.*no space left.*\): make room or repair the disk, and start again; acknowledged writes are safe`); err != nil {
		return summary, err
	}
	if err := d.remount(ctx, fmt.Sprint("size=", roomy)); err != nil {
		return summary, err
	}
	return fmt.Sprintf("%s, %d writes answered 500", summary, failed), d.restart(ctx, time.Time{})
}

// cannotBeWritten starts the engine on a disk that cannot be written. It must end with a sentence
// about it, and change nothing.
func (d *diskTest) cannotBeWritten(ctx context.Context) (string, error) {
	const summary = "a disk that cannot be written"
	if _, err := d.write(ctx, 1+d.random.IntN(500)); err != nil {
		return summary, err
	}
	if err := d.stop(d.random.IntN(2) == 0); err != nil {
		return summary, err
	}
	if err := d.remount(ctx, "ro"); err != nil {
		return summary, err
	}
	if err := d.doesNotStart(ctx, `(?i)read-only file system|cannot be written|not writable`); err != nil {
		return summary, err
	}
	if err := d.remount(ctx, "rw"); err != nil {
		return summary, err
	}
	return summary, d.restart(ctx, time.Time{})
}

// damagesOfFiles are what happens to a file.
var damagesOfFiles = map[string]func(random *rand.Rand, text []byte) []byte{
	"cut":     func(random *rand.Rand, text []byte) []byte { return text[:random.IntN(len(text))] },
	"flipped": func(random *rand.Rand, text []byte) []byte { text[random.IntN(len(text))] ^= 0x55; return text },
	"zeroed": func(random *rand.Rand, text []byte) []byte {
		clear(text[random.IntN(len(text)):])
		return text
	},
	"removed": nil,
}

// isDamaged damages a file of the stopped engine. The engine must find that at its start, or when
// an item is read; or all items are there, but for those of the last two seconds before a kill.
// With the file as it was, it goes on.
func (d *diskTest) isDamaged(ctx context.Context) (string, error) {
	if _, err := d.write(ctx, 1+d.random.IntN(500)); err != nil {
		return "", err
	}
	orderly := d.random.IntN(2) == 0
	if err := d.stop(orderly); err != nil {
		return "", err
	}
	since := time.Time{} // acknowledged items from then on may be missing
	if !orderly {
		since = time.Now().Add(-2 * time.Second)
	}
	files, err := filepath.Glob(filepath.Join(d.data, "engine", "*"))
	if err != nil {
		return "", err
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		s, err := os.Stat(file)
		return err != nil || s.Size() == 0 || filepath.Base(file) == "LOCK"
	})
	file := files[d.random.IntN(len(files))]
	kinds := []string{"cut", "flipped", "removed", "zeroed"}
	kind := kinds[d.random.IntN(len(kinds))]
	summary := fmt.Sprintf("%s %s after an orderly end: %t", filepath.Base(file), kind, orderly)
	kept := d.data + "-kept"
	if err := os.Remove(filepath.Join(d.data, "engine.sock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return summary, err
	}
	if err := os.CopyFS(kept, os.DirFS(d.data)); err != nil {
		return summary, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return summary, err
	}
	if change := damagesOfFiles[kind]; change == nil {
		err = os.Remove(file)
	} else {
		err = os.WriteFile(file, change(d.random, text), 0o600)
	}
	if err != nil {
		return summary, err
	}
	const sentence = `is damaged \(.*\), and its data cannot be trusted: restore it from a backup, or use another folder`
	found := "found at the start"
	switch err := d.doesNotStart(ctx, sentence); {
	case errors.Is(err, errStarted):
		found = "without effect"
		if err := d.verify(ctx, since); err != nil {
			if end := d.ends(sentence); end != nil {
				return summary, errors.Join(err, end)
			}
			found = "found by a read"
		} else if err := d.stop(true); err != nil {
			return summary, err
		}
	case err != nil:
		return summary, err
	}
	summary += ", " + found
	if err := os.RemoveAll(d.data); err != nil {
		return summary, err
	}
	if err := os.Rename(kept, d.data); err != nil {
		return summary, err
	}
	return summary, d.restart(ctx, time.Time{})
}

// stop ends the engine, by SIGTERM or by SIGKILL.
func (d *diskTest) stop(orderly bool) error {
	if orderly {
		return d.engine.end()
	}
	return d.engine.kill()
}

// restart starts the engine and verifies its items.
func (d *diskTest) restart(ctx context.Context, since time.Time) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	return d.verify(ctx, since)
}

// verify checks that all items are there that were acknowledged before since, or all if that is
// zero.
func (d *diskTest) verify(ctx context.Context, since time.Time) error {
	items, err := d.account.all(ctx, "dbs/chaos/colls/items")
	if err != nil {
		return err
	}
	for id, at := range d.stored {
		if _, isThere := items[itemKey{id, id}]; !isThere && (since.IsZero() || at.Before(since)) {
			return fmt.Errorf("the acknowledged item %s is missing", id)
		}
	}
	return nil
}

// ends waits until the engine ends by itself, and checks what it prints. If it does not, it is
// killed.
func (d *diskTest) ends(sentence string) error {
	engine := d.engine.command.Process
	late := time.AfterFunc(time.Minute, func() { _ = engine.Kill() })
	defer late.Stop()
	err := d.engine.wait()
	if log := d.engine.log.String(); err == nil || !regexp.MustCompile(sentence).MatchString(log) {
		return fmt.Errorf("the engine ended with %v, and printed\n%s", err, log)
	}
	return nil
}

var errStarted = errors.New("the engine started")

// doesNotStart starts the engine, which must end and print a sentence. If it serves, the error is
// errStarted, and it goes on.
func (d *diskTest) doesNotStart(ctx context.Context, sentence string) error {
	err := d.start(ctx)
	if err == nil {
		return errStarted
	}
	if !regexp.MustCompile(sentence).MatchString(err.Error()) {
		return fmt.Errorf("the engine does not say why it does not start: %w", err)
	}
	return nil
}
