package embedded

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// The first byte of a Pebble key says what is kept under it. A container is named by its number, so that its keys are
// short and a container made anew under an old name shares nothing with it.
const (
	spaceMeta      = 'm' // format, epoch, the last number given to a definition
	spaceDatabase  = 'd' // name → definition
	spaceContainer = 'c' // database's number, name → definition
	spaceOffer     = 'o' // resource id → throughput
	spaceScript    = 's' // container, kind, id → definition
	spaceCeiling   = 'l' // container, log → log sequence number
	spaceItem      = 'i' // container, locator → record
	spaceFeed      = 'f' // container, log, log sequence number, sequence in its transaction → locator
	spaceIndex     = 'x' // container, index, values → locator
	spaceExpiry    = 't' // container, second of expiry, locator → nothing
)

// containerSpaces are those of what is in a container: their keys begin with its number.
var containerSpaces = []byte{spaceScript, spaceCeiling, spaceItem, spaceFeed, spaceIndex, spaceExpiry}

// A locator names an item within its container: the 16 bytes of the effective partition key, the partition key's value
// as a key, the id. Items lie in the order of their locators, so a physical range is one piece of the key space, and so
// is a logical partition.
type locator []byte

func containerKey(space byte, container uint32, tail ...byte) []byte {
	key := make([]byte, 0, 5+len(tail)+32)
	key = append(key, space)
	key = binary.BigEndian.AppendUint32(key, container)
	return append(key, tail...)
}

func itemKey(container uint32, l locator) []byte { return containerKey(spaceItem, container, l...) }

func ceilingKey(container, log uint32) []byte {
	return binary.BigEndian.AppendUint32(containerKey(spaceCeiling, container), log)
}

func feedKey(container, log uint32, lsn uint64, sequence uint32) []byte {
	key := binary.BigEndian.AppendUint32(containerKey(spaceFeed, container), log)
	key = binary.BigEndian.AppendUint64(key, lsn)
	return binary.BigEndian.AppendUint32(key, sequence)
}

// feedLSN reads the log sequence number out of a feed key.
func feedLSN(key []byte) uint64 { return binary.BigEndian.Uint64(key[9:17]) }

func indexKey(container uint32, index int) []byte {
	return binary.BigEndian.AppendUint16(containerKey(spaceIndex, container), uint16(index))
}

func expiryKey(container uint32, second int64, l locator) []byte {
	key := binary.BigEndian.AppendUint64(containerKey(spaceExpiry, container), uint64(second))
	return append(key, l...)
}

// after gives the first key that is greater than every key beginning with prefix.
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

// within gives the iterator's bounds for the keys that begin with prefix.
func within(prefix []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)}
}
