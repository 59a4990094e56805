package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"cosmosblog/store/embedded/value"
)

// record is an item as it is kept: where it stands in the change feed, when it expires, and its JSON with the system
// properties in it, so that a point read gives the bytes as they lie. A record never changes once made.
type record struct {
	lsn      uint64 // of the transaction that wrote it
	sequence uint32 // its place in that transaction
	log      uint32 // of which the number is
	expires  int64  // Unix seconds; 0 for never
	text     []byte

	root   value.Value // of text; parsed when first needed
	parsed bool
}

const recordVersion = 1

const recordHeader = 1 + 8 + 4 + 4 + 8

// encode appends the record as Pebble keeps it.
func (r *record) encode(to []byte) []byte {
	to = append(to, recordVersion)
	to = binary.BigEndian.AppendUint64(to, r.lsn)
	to = binary.BigEndian.AppendUint32(to, r.sequence)
	to = binary.BigEndian.AppendUint32(to, r.log)
	to = binary.BigEndian.AppendUint64(to, uint64(r.expires))
	return append(to, r.text...)
}

var errDamagedRecord = errors.New("embedded: a stored item is damaged")

// decodeRecord copies what it needs out of stored, which may be Pebble's memory.
func decodeRecord(stored []byte) (*record, error) {
	if len(stored) < recordHeader {
		return nil, errDamagedRecord
	}
	if stored[0] != recordVersion {
		return nil, fmt.Errorf("%w: its version is %d", errDamagedRecord, stored[0])
	}
	return &record{
		lsn:      binary.BigEndian.Uint64(stored[1:]),
		sequence: binary.BigEndian.Uint32(stored[9:]),
		log:      binary.BigEndian.Uint32(stored[13:]),
		expires:  int64(binary.BigEndian.Uint64(stored[17:])),
		text:     append([]byte(nil), stored[recordHeader:]...),
	}, nil
}

// value gives the item's JSON value. It is for one goroutine at a time.
func (r *record) value() (value.Value, error) {
	if !r.parsed {
		root, err := value.Parse(r.text)
		if err != nil {
			return value.Undefined, fmt.Errorf("%w: %v", errDamagedRecord, err)
		}
		r.root, r.parsed = root, true
	}
	return r.root, nil
}

// expired tells whether the item is gone at a second, though it may not have been removed yet.
func (r *record) expired(now int64) bool { return r.expires != 0 && now >= r.expires }

// etag reads the etag, with its quotes, out of the item's JSON without reading the rest: withSystem puts it near the end.
func (r *record) etag() (string, error) {
	tail := r.text[max(0, len(r.text)-systemTail):]
	_, after, ok := bytes.Cut(tail, []byte(`"_etag":"\"`))
	etag, _, closed := bytes.Cut(after, []byte(`\""`))
	if !ok || !closed {
		return "", errDamagedRecord
	}
	return `"` + string(etag) + `"`, nil
}

// systemTail is more than the length of what stands from _etag to the end.
const systemTail = 160

// systemProperties are those that the service sets; what a client sends under these names is left out.
var systemProperties = map[string]bool{"_rid": true, "_self": true, "_etag": true, "_attachments": true, "_ts": true, "_lsn": true}

// withoutSystem gives an item as the client wrote it.
func withoutSystem(item value.Value) value.Value { return without(item, systemProperties) }

// without gives an item without some of its properties; the item itself where it has none of them.
func without(item value.Value, unwanted map[string]bool) value.Value {
	names, _, _ := item.Members()
	if !slices.ContainsFunc(names, func(name string) bool { return unwanted[name] }) {
		return item
	}
	return value.Object(others(item, unwanted, 0))
}

// others gives an item's properties without some, in new slices with room for so many more.
func others(item value.Value, unwanted map[string]bool, room int) (names []string, values []value.Value) {
	all, items, _ := item.Members()
	names, values = make([]string, 0, len(all)+room), make([]value.Value, 0, len(all)+room)
	for i, name := range all {
		if !unwanted[name] {
			names, values = append(names, name), append(values, items[i])
		}
	}
	return names, values
}

// withSystem gives an item with its system properties at its end, in the place of those that it has.
func withSystem(item value.Value, rid, self, etag string, ts int64) value.Value {
	names, values := others(item, systemProperties, 5)
	names = append(names, "_rid", "_self", "_etag", "_attachments", "_ts")
	values = append(values, value.String(rid), value.String(self), value.String(etag),
		value.String("attachments/"), value.Number(float64(ts)))
	return value.Object(names, values)
}

// newRecord makes the record of an item with its system properties.
func newRecord(item value.Value, expires int64) *record {
	return &record{expires: expires, text: value.Append(make([]byte, 0, usualText), item), root: item, parsed: true}
}

// usualText is enough for most items, in bytes.
const usualText = 1 << 10
