package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// scripts are the stored procedures of the container. "several" writes several items, and throws
// at the end if the argument "fails" is true. "comment" resembles commenting on a post: it
// creates a comment and increments a counter of the post in one transaction.
var scripts = map[string]string{
	"several": `function several(pk, items, fails) {
	var c = getContext().getCollection();
	function next(i) {
		if (i === items.length) { if (fails) throw new Error('requested'); return; }
		c.upsertDocument(c.getSelfLink(), {id: items[i].id, pk: pk, n: items[i].n}, function (err) { if (err) throw err; next(i + 1); });
	}
	next(0);
}`,
	"comment": `function comment(pk, id) {
	var c = getContext().getCollection(), post = c.getAltLink() + '/docs/post';
	c.readDocument(post, {}, function (err, item) {
		if (err) throw err;
		c.createDocument(c.getSelfLink(), {id: id, pk: pk, n: item.n}, function (err) {
			if (err) throw err;
			item.n++;
			c.replaceDocument(item._self, item, {etag: item._etag}, function (err) { if (err) throw err; });
		});
	});
}`,
}

// state is the expected content of a writer's partition: numbers by id.
type state map[string]int

// writer writes to its own partition, so that it can predict the content. It also comments on a
// post shared with other writers.
type writer struct {
	container, pk, post string
	random              *rand.Rand
	serial              int

	known       state
	unconfirmed state           // state after the last write if its outcome is unknown, otherwise nil
	deleted     map[string]bool // items whose deletion was requested
	comments    map[string]bool // on the shared post; true if acknowledged
}

func newWriter(container string, number int, random *rand.Rand) *writer {
	return &writer{container: container, pk: fmt.Sprintf("writer-%d", number), post: fmt.Sprintf("post-%d", number%8),
		random: random, known: state{}, deleted: map[string]bool{}, comments: map[string]bool{}}
}

// write is a request with its expected status and the content of the partition after it.
type write struct {
	method, path, body string
	headers            []string
	status             int
	after              state
}

// write writes until the connection is lost or ctx ends, and calls acknowledged after each
// write. It returns an error for an unexpected response.
func (w *writer) write(ctx context.Context, a *account, acknowledged func()) error {
	for {
		var err error
		if w.random.IntN(4) == 0 {
			err = w.comment(ctx, a)
		} else {
			err = w.writeItem(ctx, a)
		}
		if err != nil {
			return err
		}
		acknowledged()
	}
}

func (w *writer) writeItem(ctx context.Context, a *account) error {
	next := w.nextWrite()
	w.unconfirmed = next.after
	got, err := a.send(ctx, next.method, next.path, next.body, append(next.headers, "pk", w.pk)...)
	if err != nil {
		return err
	}
	if got.status != next.status {
		return fmt.Errorf("%s %s %s in %s: status %d, want %d: %s",
			next.method, next.path, next.body, w.pk, got.status, next.status, got.body)
	}
	w.known, w.unconfirmed = next.after, nil
	return nil
}

func (w *writer) comment(ctx context.Context, a *account) error {
	id := w.newID()
	w.comments[id] = false
	got, err := a.send(ctx, "POST", w.container+"/sprocs/comment", fmt.Sprintf("[%q,%q]", w.post, id), "pk", w.post)
	if err != nil {
		return err
	}
	if got.status != 200 {
		return fmt.Errorf("comment %s on %s: unexpected status %d: %s", id, w.post, got.status, got.body)
	}
	w.comments[id] = true
	return nil
}

func (w *writer) newID() string {
	w.serial++
	return fmt.Sprintf("%s-%d", w.pk, w.serial)
}

func (w *writer) nextWrite() write {
	docs := w.container + "/docs"
	next := write{method: "POST", path: docs, status: 201, after: maps.Clone(w.known)}
	id, n := "", w.random.IntN(1000)
	if len(w.known) > 0 {
		ids := slices.Sorted(maps.Keys(w.known))
		id = ids[w.random.IntN(len(ids))]
	}
	kind := w.random.IntN(8)
	switch {
	case kind == 0 || id == "":
		id = w.newID()
		next.body = w.item(id, n)
		next.after[id] = n
	case kind == 1:
		next.method, next.path, next.status = "PUT", docs+"/"+id, 200
		next.body = w.item(id, n)
		next.after[id] = n
	case kind == 2:
		next.method, next.path, next.status = "PATCH", docs+"/"+id, 200
		next.body = increment(n)
		next.after[id] += n
	case kind == 3 && len(w.known) > 8:
		next.method, next.path, next.status = "DELETE", docs+"/"+id, 204
		w.forget(next.after, id)
	case kind < 6:
		w.batch(&next, id, n)
	default:
		w.procedure(&next, id, n, kind == 7)
	}
	return next
}

func (w *writer) item(id string, n int) string {
	return fmt.Sprintf(`{"id":%q,"pk":%q,"n":%d,"text":%q}`, id, w.pk, n, strings.Repeat("x", w.random.IntN(600)))
}

func increment(n int) string {
	return fmt.Sprintf(`{"operations":[{"op":"incr","path":"/n","value":%d}]}`, n)
}

func (w *writer) forget(s state, id string) {
	delete(s, id)
	w.deleted[id] = true
}

// batch makes a transactional batch that creates some items and patches or deletes one.
func (w *writer) batch(next *write, id string, n int) {
	var operations []map[string]any
	for range 1 + w.random.IntN(4) {
		made := w.newID()
		operations = append(operations, map[string]any{
			"operationType": "Create", "resourceBody": json.RawMessage(w.item(made, n)),
		})
		next.after[made] = n
	}
	if len(w.known) > 8 {
		operations = append(operations, map[string]any{"operationType": "Delete", "id": id})
		w.forget(next.after, id)
	} else {
		operations = append(operations, map[string]any{
			"operationType": "Patch", "id": id, "resourceBody": json.RawMessage(increment(n)),
		})
		next.after[id] += n
	}
	text, _ := json.Marshal(operations)
	next.status, next.body = 200, string(text)
	next.headers = []string{"x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "true"}
}

// procedure makes a script call that writes several items. If fails is true, the script throws
// after all writes.
func (w *writer) procedure(next *write, id string, n int, fails bool) {
	type item struct {
		ID string `json:"id"`
		N  int    `json:"n"`
	}
	items := []item{{id, n}, {w.newID(), n}, {w.newID(), n}}
	text, _ := json.Marshal([]any{w.pk, items, fails})
	next.path, next.body, next.status = w.container+"/sprocs/several", string(text), 400
	if fails {
		return
	}
	next.status = 200
	for _, i := range items {
		next.after[i.ID] = i.N
	}
}

// verify compares the stored items with the expected state. It accepts either outcome of a write
// without a response.
func (w *writer) verify(items map[itemKey]storedItem) error {
	there := state{}
	for p, d := range items {
		if p.pk == w.pk {
			there[p.id] = d.N
		}
	}
	switch {
	case maps.Equal(there, w.known):
	case w.unconfirmed != nil && maps.Equal(there, w.unconfirmed):
		w.known = w.unconfirmed
	default:
		return fmt.Errorf("%s has\n%v\nwant\n%v\nor, if the last write was committed,\n%v", w.pk, there, w.known, w.unconfirmed)
	}
	w.unconfirmed = nil
	return nil
}
