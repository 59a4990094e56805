package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// simulationProcedure executes a list of writes in order, responds with their etags, and throws
// at the end on request.
const simulationProcedure = `{"id":"work","body":"function work(writes, fails) {
	var etags = [], c = getContext().getCollection();
	function next(i) {
		if (i === writes.length) {
			if (fails) throw new Error('as requested');
			getContext().getResponse().setBody(etags);
			return;
		}
		var w = writes[i];
		function after(err, item) { if (err) throw err; etags.push(item ? item._etag || '' : ''); next(i + 1); }
		if (w.kind === 'Create') return c.createDocument(c.getSelfLink(), w.item, after);
		if (w.kind === 'Upsert') return c.upsertDocument(c.getSelfLink(), w.item, after);
		var link = c.getAltLink() + '/docs/' + w.id;
		if (w.kind === 'Delete') return c.deleteDocument(link, {}, after);
		c.replaceDocument(link, w.item, {}, after);
	}
	next(0);
}"}`

func init() { // a body is one line of JSON
	procedureText = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(simulationProcedure)
}

var procedureText string

// pickWrite returns a random write of a partition.
func (s *simulation) pickWrite(sp *containerModel, pk string, kinds []string) simWrite {
	w := simWrite{kind: kinds[s.random.IntN(len(kinds))], id: fmt.Sprint("i", s.random.IntN(6)), n: s.random.IntN(10)}
	if s.random.IntN(4) == 0 {
		w.ttl = []int{-1, 5, 15, 40}[s.random.IntN(4)]
	}
	places := sp.places(s.now.Unix(), func(a, b place) int { return cmp.Or(cmp.Compare(a.pk, b.pk), cmp.Compare(a.id, b.id)) })
	places = slices.DeleteFunc(places, func(p place) bool { return p.pk != pk })
	if len(places) > 0 && w.kind != "Create" {
		p := places[s.random.IntN(len(places))]
		w.id = p.id
		switch s.random.IntN(8) {
		case 0:
			w.ifMatch = sp.items[p].etag
		case 1:
			w.ifMatch = `"00000000-0000-0000-0000-000000000000"`
		}
	}
	switch {
	case w.kind == "Create":
		w.ifMatch = ""
	case w.kind == "Replace" && s.random.IntN(4) == 0:
		w.as = fmt.Sprint("i", s.random.IntN(6))
	}
	return w
}

func (s *simulation) pickPK() string { return fmt.Sprint("p", s.random.IntN(5)) }

var writeKinds = []string{"Create", "Upsert", "Replace", "Patch", "Delete"}

// write sends one write.
func (s *simulation) write() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	pk := s.pickPK()
	w := s.pickWrite(sp, pk, writeKinds)
	s.record("write", "%s %s %+v", name, pk, w)
	statuses, done := sp.do(pk, s.now.Unix(), []simWrite{w})
	got := s.sendWrite(name, pk, w)
	if got.status != statuses[0] {
		s.fail("status %d, want %d: %s", got.status, statuses[0], got.text)
	}
	if done {
		s.recordETag(sp, pk, w, got.header.Get("Etag"))
	}
}

func (s *simulation) sendWrite(name, pk string, w simWrite) answer {
	method, path, headers := "POST", docsOf(name), []string{"pk", pk}
	switch w.kind {
	case "Upsert":
		headers = append(headers, "x-ms-documentdb-is-upsert", "true")
	case "Replace", "Patch", "Delete":
		method = map[string]string{"Replace": "PUT", "Patch": "PATCH", "Delete": "DELETE"}[w.kind]
		path += "/" + w.id
	}
	if w.ifMatch != "" {
		headers = append(headers, "If-Match", w.ifMatch)
	}
	return s.send(method, path, w.body(pk), headers...)
}

// recordETag records the etag of a write, which no other item may have.
func (s *simulation) recordETag(sp *containerModel, pk string, w simWrite, etag string) {
	item := sp.items[place{pk, w.idAfter()}]
	if item == nil {
		return
	}
	for p, other := range sp.items {
		if other.etag == etag {
			s.fail("%s/%s has the etag %q of %s", pk, w.idAfter(), etag, p)
		}
	}
	item.etag = etag
}

// batch sends several writes as one batch.
func (s *simulation) batch() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	pk := s.pickPK()
	var writes []simWrite
	var operations []map[string]any
	for range 1 + s.random.IntN(5) {
		w := s.pickWrite(sp, pk, writeKinds)
		operation := map[string]any{"operationType": w.kind}
		if w.ifMatch != "" {
			operation["ifMatch"] = w.ifMatch
		}
		if w.kind != "Create" && w.kind != "Upsert" {
			operation["id"] = w.id
		}
		if body := w.body(pk); body != "" {
			operation["resourceBody"] = json.RawMessage(body)
		}
		writes, operations = append(writes, w), append(operations, operation)
	}
	s.record("batch", "%s %s %+v", name, pk, writes)
	statuses, done := sp.do(pk, s.now.Unix(), writes)
	text, _ := json.Marshal(operations)
	got := s.send("POST", docsOf(name), string(text), "pk", pk, "x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "true")
	results, _ := got.body.AsArray()
	if want := map[bool]int{true: 200, false: 207}[done]; got.status != want || len(results) != len(writes) {
		s.fail("status %d, want %d: %s", got.status, want, got.text)
	}
	for i, result := range results {
		want := 424
		if done || i == len(statuses)-1 {
			want = statuses[i]
		}
		if status, _ := result.Get("statusCode").AsNumber(); int(status) != want {
			s.fail("operation %d: status %v, want %d: %s", i, status, want, got.text)
		}
	}
	for i := len(writes) - 1; i >= 0 && done; i-- { // an item has the etag of its last write
		etag, _ := results[i].Get("eTag").AsString()
		if item := sp.items[place{pk, writes[i].idAfter()}]; item != nil && item.etag == "" {
			s.recordETag(sp, pk, writes[i], etag)
		}
	}
}

// procedure executes several writes in a script, which sometimes fails at the end.
func (s *simulation) procedure() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	if !sp.procedure {
		s.record("create procedure", "%s", name)
		sp.procedure = true
		s.must(201, s.send("POST", "dbs/blog/colls/"+name+"/sprocs", procedureText))
		return
	}
	pk, fails := s.pickPK(), s.random.IntN(3) == 0
	var writes []simWrite
	var arguments []map[string]any
	for range 1 + s.random.IntN(4) {
		w := s.pickWrite(sp, pk, []string{"Create", "Upsert", "Replace", "Delete"})
		w.ifMatch = ""
		writes = append(writes, w)
		arguments = append(arguments, map[string]any{"kind": w.kind, "id": w.id, "item": json.RawMessage(itemText(pk, w.idAfter(), w.n, w.ttl))})
	}
	s.record("procedure", "%s %s %+v fails %t", name, pk, writes, fails)
	want := 400
	if !fails {
		if _, done := sp.do(pk, s.now.Unix(), writes); done {
			want = 200
		}
	}
	text, _ := json.Marshal([]any{arguments, fails})
	got := s.send("POST", "dbs/blog/colls/"+name+"/sprocs/work", string(text), "pk", pk)
	if got.status != want {
		s.fail("status %d, want %d: %s", got.status, want, got.text)
	}
	if want != 200 {
		return
	}
	etags, _ := got.body.AsArray()
	if len(etags) != len(writes) {
		s.fail("got %s for %d writes", got.text, len(writes))
	}
	for i := len(etags) - 1; i >= 0; i-- {
		etag, _ := etags[i].AsString()
		if item := sp.items[place{pk, writes[i].idAfter()}]; item != nil && item.etag == "" {
			s.recordETag(sp, pk, writes[i], etag)
		}
	}
}

// readItem reads an item that may not exist.
func (s *simulation) readItem() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	p := place{s.pickPK(), fmt.Sprint("i", s.random.IntN(6))}
	s.record("read", "%s %v", name, p)
	got := s.send("GET", docsOf(name)+"/"+p.id, "", "pk", p.pk)
	want := sp.live(p, s.now.Unix())
	if want == nil {
		s.must(404, got)
		return
	}
	s.must(200, got)
	at, item := readItem(got.body)
	if item.line(at) != want.line(p) || got.header.Get("Etag") != want.etag {
		s.fail("got %s, want %s", item.line(at), want.line(p))
	}
}

// query reads the items of a partition in the order of an index, or items of all partitions by
// another index.
func (s *simulation) query() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	pk, n := s.pickPK(), s.random.IntN(10)
	headers := []string{"Content-Type", "application/query+json", "x-ms-documentdb-query", "True",
		"x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", "-1"}
	order := func(a, b place) int { return cmp.Or(cmp.Compare(len(b.id), len(a.id)), cmp.Compare(b.id, a.id)) }
	keep := func(p place, i *simItem) bool { return p.pk == pk && i.n >= n }
	text := fmt.Sprintf(`{"query":"SELECT * FROM c WHERE c.type = 't' AND c.n >= %d ORDER BY c.type, c.creationDate DESC, c.id DESC"}`, n)
	if s.random.IntN(2) == 0 {
		keep = func(_ place, i *simItem) bool { return i.user == userOf(n) }
		text = fmt.Sprintf(`{"query":"SELECT * FROM c WHERE c.userId = '%s'"}`, userOf(n))
		pk = ""
	} else {
		headers = append(headers, "pk", pk)
	}
	s.record("query", "%s %s %s", name, pk, text)
	got := s.must(200, s.send("POST", docsOf(name), text, headers...))
	have, want := []string{}, []string{}
	for _, item := range got.items() {
		p, i := readItem(item)
		have = append(have, i.line(p))
	}
	for _, p := range sp.places(s.now.Unix(), order) {
		if keep(p, sp.items[p]) {
			want = append(want, sp.items[p].line(p))
		}
	}
	if pk == "" {
		slices.Sort(have)
		slices.Sort(want)
	}
	if !slices.Equal(have, want) {
		s.fail("got\n%s\nwant\n%s", strings.Join(have, ""), strings.Join(want, ""))
	}
}

// follow continues reading the change feed of each range of a container.
func (s *simulation) follow() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	s.record("follow", "%s", name)
	c, _ := s.container("blog", name)
	for _, r := range c.ranges {
		at := sp.read[r.idText()]
		got, next := feedOf(s, s.account, name, r, at.etag)
		if want := sp.feed(c, r, at.last, s.now.Unix()); !slices.Equal(got, want) {
			s.fail("range %d has the changes %v, want %v after %+v", r.id, got, want, at)
		}
		sp.read[r.idText()] = followed{next, sp.last}
	}
}

// parallelWrites runs concurrent writers, each in its own partition, while others follow the change
// feed.
func (s *simulation) parallelWrites() {
	name, sp := s.pickContainer()
	if sp == nil {
		return
	}
	s.record("parallel writes", "%s", name)
	s.parallel = map[string]bool{}
	var mu sync.Mutex
	var writing, reading sync.WaitGroup
	var over atomic.Bool
	base := s.serial
	s.serial += 8 * 6
	for w := range 8 {
		writing.Go(func() {
			for i := range 6 {
				id := fmt.Sprintf("s%d", base+w*6+i)
				mu.Lock()
				s.parallel[name+"/"+id] = false
				mu.Unlock()
				got := s.send("POST", docsOf(name), itemText(id, id, i, 0), "pk", id)
				acknowledged := !s.crash.struck.Load()
				mu.Lock()
				s.parallel[name+"/"+id] = got.status == 201 && acknowledged
				mu.Unlock()
			}
		})
	}
	c, _ := s.container("blog", name)
	seen := map[string][]string{} // by range
	for _, r := range c.ranges {
		reading.Go(func() {
			var mine []string
			etag := sp.read[r.idText()].etag
			for end := false; !end; {
				end = over.Load() // checked before the page, so that the last page sees everything
				page, next := s.changesOf(name, r, etag)
				if s.crash.struck.Load() {
					break // the page may contain data that the crash dropped
				}
				mine, etag = append(mine, page...), next
			}
			mu.Lock()
			defer mu.Unlock()
			seen[r.idText()] = mine
		})
	}
	writing.Wait()
	over.Store(true)
	reading.Wait()
	for id, mine := range seen {
		slices.Sort(mine)
		if len(slices.Compact(slices.Clone(mine))) != len(mine) {
			s.fail("range %s returned an item twice that was written once: %v", id, mine)
		}
		for _, at := range mine {
			if _, id, _ := strings.Cut(at, "/"); strings.HasPrefix(id, "s") {
				if _, ours := s.parallel[name+"/"+id]; ours {
					s.parallel[name+"/"+id] = true // shown changes must persist
				}
			}
		}
	}
	if !s.crash.struck.Load() {
		s.addParallelWrites()
		s.assertAllSeen(name, seen)
		s.verify()
	}
}

// changesOf reads the change feed of a range to its end, in pages of seven changes.
func (s *simulation) changesOf(name string, r *keyRange, etag string) (changes []string, next string) {
	for {
		headers := []string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", r.idText(), "x-ms-max-item-count", "7"}
		if etag != "" {
			headers = append(headers, "If-None-Match", etag)
		}
		page := s.send("GET", docsOf(name), "", headers...)
		etag = page.header.Get("Etag")
		if page.status != 200 {
			return changes, etag
		}
		for _, item := range page.items() {
			p, _ := readItem(item)
			changes = append(changes, p.pk+"/"+p.id)
		}
	}
}

// assertAllSeen checks that followers of the change feed saw every concurrent write.
func (s *simulation) assertAllSeen(name string, seen map[string][]string) {
	all := map[string]bool{}
	for _, mine := range seen {
		for _, at := range mine {
			all[at] = true
		}
	}
	for at, acknowledged := range s.parallel {
		_, id, _ := strings.Cut(at, "/")
		if !acknowledged {
			s.fail("%s was rejected", at)
		}
		if !all[id+"/"+id] {
			s.fail("the change feed of %s did not show %s", name, id)
		}
	}
}

// addParallelWrites adds the concurrent writes to the model: all acknowledged ones, and those of
// the rest that exist.
func (s *simulation) addParallelWrites() {
	for at := range s.parallel {
		name, id, _ := strings.Cut(at, "/")
		got := s.send("GET", docsOf(name)+"/"+id, "", "pk", id)
		if got.status != 200 {
			if s.parallel[at] {
				s.fail("%s was acknowledged or shown, but its read returns %d", at, got.status)
			}
			continue
		}
		_, item := readItem(got.body)
		s.model[name].items[place{id, id}] = item
	}
	s.order()
}

// order numbers the concurrently written items in change feed order.
func (s *simulation) order() {
	for name, sp := range s.model {
		c, err := s.container("blog", name)
		if err != nil {
			s.fail("%v", err)
		}
		for _, r := range c.ranges {
			changes, _ := s.changesOf(name, r, "")
			for _, at := range changes {
				pk, id, _ := strings.Cut(at, "/")
				if _, ours := s.parallel[name+"/"+id]; !ours {
					continue
				}
				sp.last++
				sp.items[place{pk, id}].number = sp.last
			}
		}
	}
}
