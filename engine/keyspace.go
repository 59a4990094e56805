package engine

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// The first byte of a Pebble key is its space. Keys hold the number of their container and not
// its name. A number is shorter, and a container that is recreated under its old name starts
// empty.
const (
	spaceMeta      = 'm' // format, epoch, last number assigned to a definition
	spaceDatabase  = 'd' // name → definition
	spaceContainer = 'c' // database's number, name → definition
	spaceOffer     = 'o' // resource id → throughput
	spaceScript    = 's' // container, kind, id → definition
	spaceCeiling   = 'l' // container, log → log sequence number
	spaceItem      = 'i' // container, locator → record
	spaceFeed      = 'f' // container, log, log sequence number, place in transaction → locator
	spaceIndex     = 'x' // container, index, values → locator
	spaceExpiry    = 't' // container, Unix second of expiry, locator → nothing
)

// spaceNames are the names of the spaces in the messages of Check.
var spaceNames = map[byte]string{
	spaceDatabase: "database", spaceContainer: "container", spaceOffer: "throughput", spaceScript: "script",
	spaceCeiling: "ceiling", spaceItem: "item", spaceFeed: "change feed", spaceIndex: "index", spaceExpiry: "expiry",
}

// containerSpaces are the spaces of a container's contents. Their keys begin with the
// container's number.
var containerSpaces = []byte{spaceScript, spaceCeiling, spaceItem, spaceFeed, spaceIndex, spaceExpiry}

// locator identifies an item within its container: the effective partition key (16 bytes), the
// partition key's encoded value, and the id. Items are stored in locator order, so physical
// ranges and logical partitions are contiguous.
type locator []byte

func containerKey(space byte, container uint32, tail ...byte) []byte {
	key := make([]byte, 0, 5+len(tail)+32)
	key = append(key, space)
	key = binary.BigEndian.AppendUint32(key, container)
	return append(key, tail...)
}

func itemKey(container uint32, l locator) []byte { return containerKey(spaceItem, container, l...) }

// appendItemKey appends itemKey to a buffer.
func appendItemKey(key []byte, container uint32, l locator) []byte {
	return append(binary.BigEndian.AppendUint32(append(key, spaceItem), container), l...)
}

func ceilingKey(container, log uint32) []byte {
	return binary.BigEndian.AppendUint32(containerKey(spaceCeiling, container), log)
}

func feedKey(container, log uint32, lsn uint64, sequence uint32) []byte {
	key := binary.BigEndian.AppendUint32(containerKey(spaceFeed, container), log)
	key = binary.BigEndian.AppendUint64(key, lsn)
	return binary.BigEndian.AppendUint32(key, sequence)
}

// feedLSN returns the log sequence number in a feed key.
func feedLSN(key []byte) uint64 { return binary.BigEndian.Uint64(key[9:17]) }

func indexKey(container uint32, index int) []byte {
	return binary.BigEndian.AppendUint16(containerKey(spaceIndex, container), uint16(index))
}

func expiryKey(container uint32, second int64, l locator) []byte {
	key := binary.BigEndian.AppendUint64(containerKey(spaceExpiry, container), uint64(second))
	return append(key, l...)
}

// after returns the lowest key above all keys that begin with prefix.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] != 0xFF {
			end[i]++
			return end[:i+1]
		}
	}
	return nil // to the end of all keys
}

// within returns iterator bounds for the keys that begin with prefix.
func within(prefix []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)}
}
