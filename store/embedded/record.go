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
func withoutSystem(item value.Value) value.Value {
	names, values, _ := item.Members()
	if !slices.ContainsFunc(names, func(name string) bool { return systemProperties[name] }) {
		return item
	}
	keptNames, kept := make([]string, 0, len(names)), make([]value.Value, 0, len(names))
	for i, name := range names {
		if !systemProperties[name] {
			keptNames, kept = append(keptNames, name), append(kept, values[i])
		}
	}
	return value.Object(keptNames, kept)
}

// withSystem writes an item's JSON with the system properties at its end. item has none of its own.
func withSystem(item value.Value, rid, self, etag string, ts int64) []byte {
	text := make([]byte, 0, 1024)
	text = value.Append(text, item)
	text = text[:len(text)-1]
	if item.Len() > 0 {
		text = append(text, ',')
	}
	text = append(append(text, `"_rid":"`...), rid...)
	text = append(append(text, `","_self":"`...), self...)
	text = append(text, `","_etag":`...)
	text = value.AppendString(text, etag)
	text = append(text, `,"_attachments":"attachments/","_ts":`...)
	text = fmt.Append(text, ts)
	return append(text, '}')
}
