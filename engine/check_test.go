package engine

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/value"
)

// TestCheckFindsDamage damages one stored entry at a time and expects Check to report it.
func TestCheckFindsDamage(t *testing.T) {
	for fault, damage := range map[string]func(a *account, c *container, l locator, r *record){
		"has no change feed entry": func(a *account, c *container, _ locator, r *record) {
			a.db.Delete(feedKey(c.number, r.log, r.lsn, r.sequence), pebble.Sync)
		},
		"change feed entries, but the items require": func(a *account, c *container, l locator, r *record) {
			a.db.Set(feedKey(c.number, r.log, r.lsn, 7), l, pebble.Sync)
		},
		"was assigned to two transactions": func(a *account, c *container, l locator, r *record) {
			a.db.Set(feedKey(c.number, r.log, r.lsn, 7), newPartition(value.String("p2")).locator("b"), pebble.Sync)
		},
		"is above the log's ceiling": func(a *account, c *container, _ locator, r *record) {
			a.db.Set(ceilingKey(c.number, r.log), binary.BigEndian.AppendUint64(nil, r.lsn-1), pebble.Sync)
		},
		"has changes but no ceiling": func(a *account, c *container, _ locator, r *record) {
			a.db.Delete(ceilingKey(c.number, r.log), pebble.Sync)
		},
		"index entries": func(a *account, c *container, l locator, _ *record) {
			a.db.Set(append(indexKey(c.number, 0), "more"...), l, pebble.Sync)
		},
		"its ttl requires": func(a *account, c *container, l locator, r *record) {
			r.expires++
			a.db.Set(itemKey(c.number, l), r.encode(nil), pebble.Sync)
		},
		"differs from the encoding of its properties": func(a *account, c *container, l locator, r *record) {
			r.text = []byte(strings.Replace(string(r.text), `"_self":"dbs/`, `"_self":"dbs//`, 1))
			a.db.Set(itemKey(c.number, l), r.encode(nil), pebble.Sync)
		},
		"is stored under another partition key or id": func(a *account, c *container, l locator, r *record) {
			a.db.Set(itemKey(c.number, append(l, "x"...)), r.encode(nil), pebble.Sync)
		},
		"is damaged": func(a *account, c *container, l locator, _ *record) {
			a.db.Set(itemKey(c.number, l), []byte("x"), pebble.Sync)
		},
		"1 items share their etag with another item": func(a *account, c *container, l locator, r *record) {
			a.create("p1", `{"id":"b","postId":"p1"}`)
			other, _ := readRecord(a.db, c, newPartition(value.String("p1")).locator("b"))
			theirs, _ := other.etag()
			ours, _ := r.etag()
			other.text = []byte(strings.Replace(string(other.text), strings.Trim(theirs, `"`), strings.Trim(ours, `"`), 1))
			a.db.Set(itemKey(c.number, newPartition(value.String("p1")).locator("b")), other.encode(nil), pebble.Sync)
		},
		"which were never assigned": func(a *account, c *container, l locator, r *record) {
			r.text = []byte(strings.Replace(string(r.text), `"_etag":"\"0`, `"_etag":"\"f`, 1))
			a.db.Set(itemKey(c.number, l), r.encode(nil), pebble.Sync)
		},
		"is in log 9 instead of log 0": func(a *account, c *container, l locator, r *record) {
			r.log = 9
			a.db.Set(itemKey(c.number, l), r.encode(nil), pebble.Sync)
		},
		"for container 77, which does not exist": func(a *account, _ *container, l locator, r *record) {
			a.db.Set(itemKey(77, l), r.encode(nil), pebble.Sync)
		},
		"belongs to no database or container": func(a *account, c *container, _ locator, _ *record) {
			offer := &offer{rid: "AAAA", owner: "gone"}
			a.catalog.Load().offers[offer.rid] = offer
		},
		"2 database definitions are stored, but the catalog has 1": func(a *account, _ *container, _ locator, _ *record) {
			a.db.Set(databaseKey("other"), []byte("{}"), pebble.Sync)
		},
	} {
		t.Run(fault, func(t *testing.T) {
			a := newBlog(t, Options{})
			a.create("p1", `{"id":"a","postId":"p1","userId":"u","ttl":100}`)
			c, _ := a.container("blog", "posts")
			l := newPartition(value.String("p1")).locator("a")
			r, err := readRecord(a.db, c, l)
			if err != nil || a.Check() != nil {
				t.Fatal(err, a.Check())
			}
			damage(a, c, l, r)
			if err := a.Check(); err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("Check returned %v", err)
			}
			a.Engine.Close()
		})
	}
}

func TestCheckReportsProgress(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	done, total := 0, 0
	if err := a.CheckWithProgress(context.Background(), func(d, n int) { done, total = d, n }); err != nil || done != 1 || total != 1 {
		t.Errorf("the last progress was %d of %d items: %v", done, total, err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := a.CheckWithProgress(ended, func(_, _ int) {}); err == nil {
		t.Error("Check ignored the cancelled context")
	}
}
