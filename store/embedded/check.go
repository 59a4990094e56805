package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Check reads everything and tells what does not agree. Every item stands once in the change feed, under a number that was
// given to its transaction alone, once in each index, and under the second of expiry that its ttl asks for; its JSON is that
// of its properties, the system's at the end; no two items of a container have a resource id or
// an etag in common. There is no entry without its item, nothing of a container that is not there, and no throughput of
// nothing. It may run beside other requests: it looks at one moment. Errors: all that is wrong, joined, at most 100 of
// each container; ErrClosed.
func (e *Engine) Check() error { return e.CheckTelling(context.Background(), func(_, _ int) {}) }

// CheckTelling does what Check does, and tells now and then how many items of how many it has looked at. Errors: also the
// context's.
func (e *Engine) CheckTelling(ctx context.Context, tell func(done, total int)) (err error) {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	e.catalogMu.Lock() // what there is must be that of the snapshot
	snapshot, catalog := e.db.NewSnapshot(), e.catalog.Load()
	e.catalogMu.Unlock()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	look := &look{ctx: ctx, reader: snapshot, catalog: catalog, epoch: e.epoch, tell: tell}
	return look.all()
}

// look is one check: what all containers have in common.
type look struct {
	ctx     context.Context
	reader  pebble.Reader
	catalog *catalog
	epoch   uint64
	tell    func(done, total int)

	done, total int // items
}

func (l *look) all() error {
	var containers []*container
	for _, d := range sorted(l.catalog.databases) {
		containers = append(containers, sorted(d.containers)...)
	}
	for _, c := range containers {
		n, err := l.count(containerKey(spaceItem, c.number))
		if err != nil {
			return err
		}
		l.total += n
	}
	err := l.definitions(containers)
	for _, c := range containers {
		check := &checker{look: l, container: c, expected: map[byte]int{}}
		err = errors.Join(err, check.run())
	}
	l.tell(l.done, l.total)
	return err
}

func (l *look) count(prefix []byte) (n int, err error) {
	err = each(l.reader, prefix, func(_, _ []byte) error { n++; return l.ctx.Err() })
	return n, err
}

// definitions compares what is kept of databases and containers with the catalog, and looks for what belongs to none.
func (l *look) definitions(containers []*container) error {
	owners, numbers := map[string]bool{}, map[uint32]bool{}
	for _, d := range l.catalog.databases {
		owners[d.rid] = true
	}
	for _, c := range containers {
		owners[c.rid], numbers[c.number] = true, true
	}
	var found []error
	for _, o := range l.catalog.offers {
		if !owners[o.of] {
			found = append(found, fmt.Errorf("embedded: check: the throughput %s is of nothing that is there", o.rid))
		}
	}
	for space, want := range map[byte]int{spaceDatabase: len(l.catalog.databases), spaceContainer: len(containers), spaceOffer: len(l.catalog.offers)} {
		if n, err := l.count([]byte{space}); err != nil || n != want {
			found = append(found, errors.Join(err, fmt.Errorf("embedded: check: %d definitions of the kind %q are kept, and %d are known", n, space, want)))
		}
	}
	for _, space := range containerSpaces {
		found = append(found, l.orphans(space, numbers))
	}
	return errors.Join(found...)
}

// orphans looks for keys of containers that are not there, going from container to container.
func (l *look) orphans(space byte, numbers map[uint32]bool) (err error) {
	it, err := l.reader.NewIter(within([]byte{space}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Error(), it.Close()) }()
	for ok := it.First(); ok; {
		number := binary.BigEndian.Uint32(it.Key()[1:])
		if !numbers[number] {
			err = errors.Join(err, fmt.Errorf("embedded: check: something of the kind %q is kept of container %d, which is not there", space, number))
		}
		ok = it.SeekGE(after(containerKey(space, number)))
	}
	return err
}
