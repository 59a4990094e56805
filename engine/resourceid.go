package engine

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// A resource id identifies a resource permanently, even if its name is used again: 4 bytes for
// its database, 4 for its container, 8 for the resource in the container, in base64 with '-' for
// '/'. The highest half byte of the last part is the kind of resource.
const (
	kindItem           = 0x0
	kindRange          = 0x5
	kindTrigger        = 0x7
	kindProcedure      = 0x8
	containerRIDMarker = 1 << 31
)

func databaseRID(database uint32) string {
	return encodeRID(binary.BigEndian.AppendUint32(nil, database))
}

func containerRID(database, container uint32) string {
	b := binary.BigEndian.AppendUint32(nil, database)
	return encodeRID(binary.BigEndian.AppendUint32(b, container|containerRIDMarker))
}

// childRID returns the resource id of a resource in a container. number has at most 60 bits.
func childRID(database, container uint32, kind byte, number uint64) string {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 16), database)
	b = binary.BigEndian.AppendUint32(b, container|containerRIDMarker)
	b = binary.LittleEndian.AppendUint64(b, number)
	b[15] |= kind << 4
	return encodeRID(b)
}

// itemNumber returns the number in an item's resource id, or 0 if it has none. Numbers increase
// in the order in which items are created.
func itemNumber(rid string) uint64 {
	b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(rid, "-", "/"))
	if err != nil || len(b) != 16 {
		return 0
	}
	return binary.LittleEndian.Uint64(b[8:])
}

// itemNumber returns the number in the resource id of an item of the container.
func (c *container) itemNumber(rid string) (uint64, bool) {
	number := itemNumber(rid)
	return number, childRID(c.databaseNumber, c.number, kindItem, number) == rid
}

// idByRID returns the id of the partition's item with a resource id, as the transaction sees it.
// Error: 404, even if another item now has the id.
func (t *transaction) idByRID(rid string) (string, error) {
	id, ok := t.ids[rid]
	if !ok {
		var err error
		if id, ok, err = t.committedID(rid); err != nil || !ok {
			return "", cmp.Or(err, error(errItemNotFound))
		}
	}
	r, err := t.load(id)
	if err != nil || r == nil {
		return "", cmp.Or(err, error(errItemNotFound))
	}
	root, err := r.value()
	if own, _ := root.Get("_rid").AsString(); err != nil || own != rid {
		return "", cmp.Or(err, error(errItemNotFound))
	}
	return id, nil
}

// committedID finds a resource id in the creation index.
func (t *transaction) committedID(rid string) (id string, ok bool, err error) {
	number, ok := t.container.itemNumber(rid)
	if !ok {
		return "", false, nil
	}
	l, closer, err := t.reader.Get(binary.BigEndian.AppendUint64(indexKey(t.container.number, creation.number), number))
	switch {
	case errors.Is(err, pebble.ErrNotFound) && !t.container.isCurrent():
		return "", false, errRedefined // the index is being rebuilt
	case errors.Is(err, pebble.ErrNotFound):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	if ok = bytes.HasPrefix(l, t.partition.prefix); ok {
		id = t.partition.idOf(l)
	}
	return id, ok, closer.Close()
}

func encodeRID(b []byte) string {
	return strings.ReplaceAll(base64.StdEncoding.EncodeToString(b), "/", "-")
}
