package embedded

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A resource id names a resource for ever, under whatever name it was made: 4 bytes of its database, 4 of its container,
// 8 of what is in it, in base64 with '-' for '/'. The highest half byte of the last part says what kind it is.
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

// childRID names something in a container: number has at most 60 bits.
func childRID(database, container uint32, kind byte, number uint64) string {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 16), database)
	b = binary.BigEndian.AppendUint32(b, container|containerRIDMarker)
	b = binary.LittleEndian.AppendUint64(b, number)
	b[15] |= kind << 4
	return encodeRID(b)
}

// itemNumber gives the number in an item's resource id, or 0: the later an item was created, the greater it is.
func itemNumber(rid string) uint64 {
	b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(rid, "-", "/"))
	if err != nil || len(b) != 16 {
		return 0
	}
	return binary.LittleEndian.Uint64(b[8:])
}

func encodeRID(b []byte) string {
	return strings.ReplaceAll(base64.StdEncoding.EncodeToString(b), "/", "-")
}
