package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/query"
	"cosmosblog/engine/value"
)

// record is a stored item: its position in the change feed, its expiry, and its JSON with the
// system properties, which a point read returns unchanged. A record is immutable.
type record struct {
	lsn      uint64 // of the transaction that wrote it
	sequence uint32 // position within that transaction
	log      uint32 // the log that assigned lsn
	expires  int64  // Unix seconds; 0 if it never expires
	text     []byte

	root   value.Value // parsed text; set when first needed
	parsed bool
}

const recordVersion = 1

const recordHeader = 1 + 8 + 4 + 4 + 8

// encode appends the record's stored form.
func (r *record) encode(to []byte) []byte {
	to = append(to, recordVersion)
	to = binary.BigEndian.AppendUint64(to, r.lsn)
	to = binary.BigEndian.AppendUint32(to, r.sequence)
	to = binary.BigEndian.AppendUint32(to, r.log)
	to = binary.BigEndian.AppendUint64(to, uint64(r.expires))
	return append(to, r.text...)
}

var errDamagedRecord = errors.New("engine: a stored item is damaged")

// decodeRecord decodes a record. It copies from stored, which may be Pebble's memory.
func decodeRecord(stored []byte) (*record, error) {
	r := &record{}
	if err := r.decode(stored); err != nil {
		return nil, err
	}
	return r, nil
}

// decode is decodeRecord into r, which nobody may use any more. Texts taken from it stay valid.
func (r *record) decode(stored []byte) error {
	if len(stored) < recordHeader {
		return errDamagedRecord
	}
	if stored[0] != recordVersion {
		return fmt.Errorf("%w: its version is %d", errDamagedRecord, stored[0])
	}
	*r = record{
		lsn:      binary.BigEndian.Uint64(stored[1:]),
		sequence: binary.BigEndian.Uint32(stored[9:]),
		log:      binary.BigEndian.Uint32(stored[13:]),
		expires:  int64(binary.BigEndian.Uint64(stored[17:])),
		text:     bytes.Clone(stored[recordHeader:]),
	}
	return nil
}

// value returns the item's JSON value. It is not safe for concurrent use.
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

// valueFor returns the parts of the item that a query reads; sorted as in Bound.Run.
func (r *record) valueFor(bound *query.Bound, sorted bool) (value.Value, error) {
	if r.parsed {
		return r.root, nil
	}
	root, err := bound.Parse(r.text, sorted)
	if err != nil {
		return value.Undefined, fmt.Errorf("%w: %v", errDamagedRecord, err)
	}
	return root, nil
}

// expired reports whether the item has expired at a Unix second. It may still be stored.
func (r *record) expired(now int64) bool { return r.expires != 0 && now >= r.expires }

// etag returns the etag, including its quotes. It searches the end of the JSON only, where
// withSystem puts the system properties.
func (r *record) etag() (string, error) {
	tail := r.text[max(0, len(r.text)-maxSystemTail):]
	_, after, ok := bytes.Cut(tail, []byte(`"_etag":"\"`))
	etag, _, closed := bytes.Cut(after, []byte(`\""`))
	if !ok || !closed {
		return "", errDamagedRecord
	}
	return `"` + string(etag) + `"`, nil
}

// maxSystemTail exceeds the length of the text from _etag to the end.
const maxSystemTail = 160

// systemProperties are set by the service. Properties with these names in a client's item are
// dropped.
var systemProperties = map[string]bool{"_rid": true, "_self": true, "_etag": true, "_attachments": true, "_ts": true, "_lsn": true}

// withoutSystem returns an item without system properties.
func withoutSystem(item value.Value) value.Value { return without(item, systemProperties) }

// without returns an item without some of its properties. If it has none of them, without
// returns the item itself.
func without(item value.Value, unwanted map[string]bool) value.Value {
	names, _, _ := item.Members()
	if !slices.ContainsFunc(names, func(name string) bool { return unwanted[name] }) {
		return item
	}
	return value.Object(propertiesExcept(item, unwanted, 0))
}

// propertiesExcept returns an item's properties except the unwanted ones, in new slices with
// room for more.
func propertiesExcept(item value.Value, unwanted map[string]bool, room int) (names []string, values []value.Value) {
	all, items, _ := item.Members()
	names, values = make([]string, 0, len(all)+room), make([]value.Value, 0, len(all)+room)
	for i, name := range all {
		if !unwanted[name] {
			names, values = append(names, name), append(values, items[i])
		}
	}
	return names, values
}

// withSystem returns an item with the given system properties at its end. They replace existing
// ones.
func withSystem(item value.Value, rid, self, etag string, ts int64) value.Value {
	names, values := propertiesExcept(item, systemProperties, 5)
	names = append(names, "_rid", "_self", "_etag", "_attachments", "_ts")
	values = append(values, value.String(rid), value.String(self), value.String(etag),
		value.String("attachments/"), value.Number(float64(ts)))
	return value.Object(names, values)
}

// newRecord creates the record of an item that has its system properties.
func newRecord(item value.Value, expires int64) *record {
	return &record{expires: expires, text: value.Text(item), root: item, parsed: true}
}

// readRecord reads a committed item, even if it has expired. It returns nil if there is none.
func readRecord(reader pebble.Reader, c *container, l locator) (*record, error) {
	r := &record{}
	if found, err := r.read(reader, itemKey(c.number, l)); !found || err != nil {
		return nil, err
	}
	return r, nil
}

// read reads the committed item of a key into r, as decode does. It does not keep the key.
func (r *record) read(reader pebble.Reader, key []byte) (found bool, err error) {
	stored, closer, err := reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, errors.Join(r.decode(stored), closer.Close())
}
