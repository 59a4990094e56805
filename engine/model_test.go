package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cosmosblog/engine/value"
)

// model is the expected content of a database: containers by name.
type model map[string]*containerModel

// containerModel is the expected content of a container.
type containerModel struct {
	items     map[place]*simItem
	last      int                 // number of its last transaction
	procedure bool                // whether the procedure is stored
	ttl       int                 // the container's defaultTtl; 0 if it has none
	read      map[string]followed // how far the change feed was read, by range
}

type place struct{ pk, id string }

// followed is a position in a change feed.
type followed struct {
	etag string
	last int // number of the last transaction at that time
}

type simItem struct {
	n, ttl   int
	user     string // unchanged by a patch
	ts       int64
	etag     string
	number   int // of the transaction that wrote it
	sequence int // position within that transaction
}

func newContainerModel() *containerModel {
	return &containerModel{ttl: -1, items: map[place]*simItem{}, read: map[string]followed{}}
}

func (m model) clone() model {
	c := model{}
	for name, s := range m {
		c[name] = s.clone()
	}
	return c
}

func (s *containerModel) clone() *containerModel {
	c := &containerModel{items: make(map[place]*simItem, len(s.items)), last: s.last, procedure: s.procedure, ttl: s.ttl, read: maps.Clone(s.read)}
	for p, item := range s.items {
		copied := *item
		c.items[p] = &copied
	}
	return c
}

// expired reports whether an item has expired. Its own ttl applies only if the container has a
// defaultTtl, and then takes precedence.
func (s *containerModel) expired(i *simItem, now int64) bool {
	ttl := i.ttl
	if ttl == 0 {
		ttl = s.ttl
	}
	return s.ttl != 0 && ttl > 0 && now >= i.ts+int64(ttl)
}

// live returns an item unless it is missing or expired.
func (s *containerModel) live(p place, now int64) *simItem {
	if item := s.items[p]; item != nil && !s.expired(item, now) {
		return item
	}
	return nil
}

// purge removes expired items and returns their number.
func (m model) purge(now int64) (removed int) {
	for _, s := range m {
		for p, item := range s.items {
			if s.expired(item, now) {
				delete(s.items, p)
				removed++
			}
		}
	}
	return removed
}

// simWrite is one write of an item.
type simWrite struct {
	kind    string // Create, Upsert, Replace, Patch or Delete
	id      string
	as      string // new id of a replace; empty to keep it
	n, ttl  int    // the written values; a patch adds n
	ifMatch string // an etag; empty for any
}

// body returns the body of the write's request.
func (w simWrite) body(pk string) string {
	switch w.kind {
	case "Patch":
		return fmt.Sprintf(`{"operations":[{"op":"incr","path":"/n","value":%d}]}`, w.n)
	case "Delete":
		return ""
	}
	return itemText(pk, w.idAfter(), w.n, w.ttl)
}

// idAfter returns the id of the item after the write.
func (w simWrite) idAfter() string { return cmp.Or(w.as, w.id) }

// itemText returns an item with a property for every index.
func itemText(pk, id string, n, ttl int) string {
	text := fmt.Sprintf(`{"id":%q,"postId":%q,"n":%d,"type":"t","creationDate":"%d","userId":%q`, id, pk, n, len(id), userOf(n))
	if ttl != 0 {
		text += fmt.Sprintf(`,"ttl":%d`, ttl)
	}
	return text + "}"
}

func userOf(n int) string { return fmt.Sprint("u", n%3) }

// do executes writes of one partition in one transaction and returns their statuses. If one is
// rejected, nothing is written.
func (s *containerModel) do(pk string, now int64, writes []simWrite) (statuses []int, done bool) {
	next, touched := s.clone(), map[string]int{}
	next.last++
	for _, w := range writes {
		status := next.one(pk, now, w, touched)
		statuses = append(statuses, status)
		if status >= 400 {
			return statuses, false
		}
	}
	*s = *next
	return statuses, true
}

// one executes one write. touched are the places of the items that the transaction wrote.
func (s *containerModel) one(pk string, now int64, w simWrite, touched map[string]int) int {
	at := place{pk, w.id}
	old := s.live(at, now)
	switch {
	case old != nil && w.kind == "Create":
		return 409
	case old == nil && w.kind != "Create" && w.kind != "Upsert":
		return 404
	case old != nil && w.ifMatch != "" && w.ifMatch != old.etag:
		return 412
	case w.idAfter() != w.id && s.live(place{pk, w.as}, now) != nil:
		return 409
	}
	for _, id := range []string{w.idAfter(), w.id} {
		if _, ok := touched[id]; !ok {
			touched[id] = len(touched)
		}
	}
	if w.kind == "Delete" {
		delete(s.items, at)
		return 204
	}
	item := &simItem{n: w.n, ttl: w.ttl, user: userOf(w.n), ts: now, number: s.last, sequence: touched[w.idAfter()]}
	status := 200
	switch {
	case w.kind == "Patch":
		item.n, item.ttl, item.user = old.n+w.n, old.ttl, old.user
	case old == nil:
		status = 201
	}
	delete(s.items, at) // unless it keeps its id
	s.items[place{pk, w.idAfter()}] = item
	return status
}

// dump returns the state visible to clients as text: items, and the change feed order of each of
// the engine's ranges.
func (m model) dump(s *simulation, a *account) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s procedure=%t ttl=%d\n", name, m[name].procedure, m[name].ttl)
		c, err := a.container("blog", name)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		places := m[name].places(s.now.Unix(), func(a, b place) int { return cmp.Or(cmp.Compare(a.pk, b.pk), cmp.Compare(a.id, b.id)) })
		for _, p := range places {
			b.WriteString(m[name].items[p].line(p))
		}
		for _, r := range c.ranges {
			fmt.Fprintf(&b, "feed%s\n", m[name].feed(c, r, 0, s.now.Unix()))
		}
	}
	return b.String()
}

func (i *simItem) line(p place) string {
	return fmt.Sprintf("%s/%s n=%d ttl=%d user=%s ts=%d %s\n", p.pk, p.id, i.n, i.ttl, i.user, i.ts, i.etag)
}

// places returns the places of unexpired items in an order.
func (s *containerModel) places(now int64, order func(a, b place) int) []place {
	var places []place
	for p, item := range s.items {
		if !s.expired(item, now) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, order)
	return places
}

// feed returns the change feed of a range after a transaction.
func (s *containerModel) feed(c *container, r *keyRange, after int, now int64) []string {
	changes := []string{}
	order := func(a, b place) int {
		x, y := s.items[a], s.items[b]
		return cmp.Or(cmp.Compare(x.number, y.number), cmp.Compare(x.sequence, y.sequence))
	}
	for _, p := range s.places(now, order) {
		if s.items[p].number > after && c.rangeOf(newPartition(value.String(p.pk)).epk()) == r {
			changes = append(changes, p.pk+"/"+p.id)
		}
	}
	return changes
}

// dump returns an engine's state in the form of the model's.
func dump(s *simulation, a *account) string {
	var b strings.Builder
	for _, name := range []string{"other", "posts"} {
		c, err := a.container("blog", name)
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "%s procedure=%t ttl=%d\n", name, len(c.scripts) == 1, ttlOf(c))
		var lines []string
		got := a.send("POST", docsOf(name), `{"query":"SELECT * FROM c"}`, "Content-Type", "application/query+json", "x-ms-documentdb-query", "True",
			"x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", "-1")
		for _, item := range got.items() {
			p, i := readItem(item)
			lines = append(lines, i.line(p))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
		for _, r := range c.ranges {
			changes, _ := feedOf(s, a, name, r, "")
			fmt.Fprintf(&b, "feed%s\n", changes)
		}
	}
	return b.String()
}

// ttlOf returns the defaultTtl of a container, or 0 if it has none.
func ttlOf(c *container) int {
	if c.definition.DefaultTTL == nil {
		return 0
	}
	return *c.definition.DefaultTTL
}

// readItem parses an item from the engine.
func readItem(item value.Value) (place, *simItem) {
	text := func(name string) string { t, _ := item.Get(name).AsString(); return t }
	number := func(name string) int { n, _ := item.Get(name).AsNumber(); return int(n) }
	return place{text("postId"), text("id")}, &simItem{n: number("n"), ttl: number("ttl"), user: text("userId"), ts: int64(number("_ts")), etag: text("_etag")}
}

// feedOf reads the change feed of a range to its end and returns the position for the next read.
func feedOf(s *simulation, a *account, name string, r *keyRange, etag string) (changes []string, next string) {
	changes = []string{}
	size := fmt.Sprint(1 + s.random.IntN(20))
	for last := -1.0; ; {
		headers := []string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", r.idText(), "x-ms-max-item-count", size}
		if etag != "" {
			headers = append(headers, "If-None-Match", etag)
		}
		page := a.send("GET", docsOf(name), "", headers...)
		etag = page.header.Get("Etag")
		if page.status != 200 {
			if page.status != 304 {
				s.fail("the change feed answers %d: %s", page.status, page.text)
			}
			return changes, etag
		}
		for i, item := range page.items() {
			p, _ := readItem(item)
			changes = append(changes, p.pk+"/"+p.id)
			lsn, _ := item.Get("_lsn").AsNumber()
			if lsn < last || i == 0 && lsn == last {
				s.fail("the change feed goes from number %v to %v", last, lsn)
			}
			last = lsn
		}
	}
}
