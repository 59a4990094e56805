//go:build ci

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cosmosblog/engine"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/apitest"
	"cosmosblog/proof/exporttest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
)

var killedExports = flag.Int("killed-exports", 4, "number of exports that are killed")

// TestKilledExports kills exports of a data folder that a server uses, while others write. After
// the last export, the files equal the database.
func TestKilledExports(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	data, to := seeded(t, threeUsers), filepath.Join(t.TempDir(), "export")
	args := []string{"export", "--data", data, "--to", to}
	server, anonymous := serving(t, nil, "--data", data)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for _, name := range []string{"anna", "bert"} {
		user, _ := signUp(t, anonymous, data, name)
		writer := &blogWriter{user: user, random: rand.New(rand.NewPCG(testseed.Of(t), uint64(len(name)+int(name[0]))))}
		writers.Go(func() {
			for ctx.Err() == nil {
				writer.write()
			}
		})
	}
	ended := 0
	for range *killedExports {
		before := countFiles(t, to)
		if err := os.RemoveAll(filepath.Join(to, "unfinished")); err != nil { // of the one that was killed
			t.Fatal(err)
		}
		export := start(t, nil, args...)
		switch random.IntN(3) {
		case 0: // as it begins
		case 1: // while it writes rows
			eventually(t, "an export wrote rows, or ended", waitTime, func() bool {
				_, err := os.Stat(filepath.Join(to, "unfinished"))
				return err == nil || len(export.exited) > 0
			})
		case 2: // while it commits them
			eventually(t, "an export committed rows, or ended", waitTime, func() bool {
				return countFiles(t, to) > before || len(export.exited) > 0
			})
		}
		ended += len(export.exited)
		_ = export.command.Process.Kill()
		<-export.exited
		if _, err := exporttest.Read(to); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d exports ended before they were killed", ended, *killedExports)
	stop()
	writers.Wait()
	if random.IntN(2) == 0 {
		server.kill(t)
	} else {
		server.terminate(t)
	}
	if _, err := runOnce(t, nil, args...); err != nil {
		t.Fatal(err)
	}
	requireExport(t, data, to)
}

// requireExport checks that an export equals the database of a data folder that no process uses.
func requireExport(t *testing.T, data, to string) {
	t.Helper()
	engine, err := engine.Open(engine.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	db, err := cosmos.New(cosmos.Options{
		Endpoint: inprocess.NewEndpoint(), Key: engine.Key(), Database: cosmos.DefaultDatabase, Transport: inprocess.To(engine),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	source, err := exporttest.Source(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	exported, err := exporttest.Read(to)
	if err != nil {
		t.Fatal(err)
	}
	deleted := 0
	for _, text := range source {
		if text == exporttest.Deleted {
			deleted++
		}
	}
	if difference := exporttest.Difference(source, exported); difference != "" || deleted == 0 {
		t.Errorf("of %d rows, %d of them deleted:\n%s", len(source), deleted, difference)
	}
}

// TestExportFaults checks what an operator reads if a folder cannot take the export, and that an
// export through the owner of the folder continues one by the owner itself.
func TestExportFaults(t *testing.T) {
	t.Parallel()
	data, to := seeded(t, oneUser), filepath.Join(t.TempDir(), "export")
	export := func(data, to string) (stdout string, err error) {
		return runOnce(t, nil, "export", "--data", data, "--to", to)
	}
	first, err := export(data, to)
	if err != nil || !strings.Contains(first, "wrote 1 rows of users, 12 of posts") {
		t.Fatalf("%q, %v", first, err)
	}
	server, _ := serving(t, nil, "--data", data)
	again, err := export(data, to)
	if err != nil || !strings.Contains(again, "wrote 0 rows of users, 0 of posts") {
		t.Errorf("%q, %v", again, err)
	}
	server.terminate(t)
	// Another folder at the same path.
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if _, err := runOnce(t, nil, threeUsers.args(data)...); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		to:                    "is an export of " + data + " cosmosblog",
		filepath.Dir(data):    "has other files, and no export: export to another folder",
		"/dev/null/no-folder": "not a directory",
	} {
		_, err := export(data, folder)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %v, want %s", err, want)
		}
		if isTold := strings.Contains(fmt.Sprint(err), "run the same command"); isTold != strings.HasPrefix(folder, "/dev") {
			t.Errorf("the advice of %v", err)
		}
	}
}

func countFiles(t *testing.T, folder string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*", "date=*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return len(paths)
}

// blogWriter sends mutations of one user, at random. Those that find nothing any more fail.
type blogWriter struct {
	user     *apitest.Client
	random   *rand.Rand
	posts    []string
	comments []string
	names    int
}

func (w *blogWriter) write() {
	input := func(fields ...any) apitest.Variables {
		v := apitest.Variables{}
		for i := 0; i < len(fields); i += 2 {
			v[fields[i].(string)] = fields[i+1]
		}
		return apitest.Variables{"input": v}
	}
	content := strings.Repeat("text ", 1<<w.random.IntN(13))
	any := func(ids []string) string {
		if len(ids) == 0 {
			return ""
		}
		return ids[w.random.IntN(len(ids))]
	}
	switch w.random.IntN(10) {
	case 0, 1:
		w.send("createPost", "CreatePostInput", "post", &w.posts, input("title", "A title", "content", content, "tags", []string{"go", fmt.Sprint("t", w.random.IntN(5))}))
	case 2, 3:
		w.send("createComment", "CreateCommentInput", "comment", &w.comments, input("postId", any(w.posts), "content", content[:min(len(content), 5000)]))
	case 4, 5:
		w.send("likePost", "LikePostInput", "like", nil, input("postId", any(w.posts)))
	case 6:
		w.send("unlikePost", "UnlikePostInput", "post", nil, input("postId", any(w.posts)))
	case 7:
		w.send("updatePost", "UpdatePostInput", "post", nil, input("id", any(w.posts), "content", content))
	case 8:
		w.send("deleteComment", "DeleteCommentInput", "comment", nil, input("id", any(w.comments)))
	case 9:
		if w.random.IntN(3) == 0 {
			w.send("deletePost", "DeletePostInput", "post", nil, input("id", any(w.posts)))
		}
	}
}

// send sends a mutation, and adds the id of what it created to ids.
func (w *blogWriter) send(field, inputType, result string, ids *[]string, variables apitest.Variables) {
	var got map[string]map[string]struct{ ID string }
	document := fmt.Sprintf("mutation ($input: %s!) { %s(input: $input) { %s { id } } }", inputType, field, result)
	answer, err := w.user.Send(document, variables)
	if err != nil || len(answer.Errors) > 0 || ids == nil {
		return
	}
	if json.Unmarshal(answer.Data, &got) == nil {
		*ids = append(*ids, got[field][result].ID)
	}
}
