package engine

import (
	"encoding/binary"
	"math"

	"cosmosblog/engine/value"
)

// epkBytes is the length of an effective partition key.
const epkBytes = 16

// partition is one logical partition of a container.
type partition struct {
	key    value.Value // undefined, null, a boolean, a number or a string
	prefix locator     // of its items' locators
}

// newPartition returns the logical partition of a partition key value.
func newPartition(key value.Value) partition {
	epk := effectivePartitionKey(key)
	prefix := make(locator, 0, epkBytes+24)
	prefix = append(prefix, epk[:]...)
	return partition{key: key, prefix: value.AppendKey(prefix, key, false)}
}

// epk returns the effective partition key, with which the prefix begins.
func (p partition) epk() []byte { return p.prefix[:epkBytes] }

func (p partition) locator(id string) locator {
	return append(append(make(locator, 0, len(p.prefix)+len(id)), p.prefix...), id...)
}

// idOf returns the id in a locator of the partition.
func (p partition) idOf(l locator) string { return string(l[len(p.prefix):]) }

// parsePartitionKey parses the header x-ms-documentdb-partitionkey: a JSON array with one
// scalar, or `[{}]` for undefined.
func parsePartitionKey(header string) (partition, error) {
	list, err := value.Parse([]byte(header))
	if err != nil {
		return partition{}, badRequest("Partition key %s is invalid: %v.", header, err)
	}
	items, ok := list.AsArray()
	if !ok || len(items) != 1 {
		return partition{}, badRequest("Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document.")
	}
	key, err := partitionKeyValue(items[0])
	if err != nil {
		return partition{}, err
	}
	return newPartition(key), nil
}

// keyOf returns the partition key of an item by the value at the key's path. An object or array
// counts as undefined (dotnet-v3, Microsoft.Azure.Cosmos.Tests/Routing/DocumentAnalyzerTest.cs).
func keyOf(v value.Value) (value.Value, error) {
	if v.Kind() == value.KindObject || v.Kind() == value.KindArray {
		return value.Undefined, nil
	}
	return partitionKeyValue(v)
}

// partitionKeyValue checks that v can be a partition key. An empty object denotes undefined.
func partitionKeyValue(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindObject:
		if v.Len() == 0 {
			return value.Undefined, nil
		}
	case value.KindString:
		if s, _ := v.AsString(); len(s) <= maxPartitionKeyBytes {
			return v, nil
		}
		return v, badRequest("Partition key value exceeds the limit of %d bytes.", maxPartitionKeyBytes)
	case value.KindNumber:
		n, _ := v.AsNumber()
		if n == 0 {
			return value.Number(0), nil // minus zero equals zero, so both need the same partition
		}
		// A key is a double: PartitionKeyHash.cs of the .NET SDK (Azure/azure-cosmos-dotnet-v3) hashes
		// nothing else. So integers beyond 2^53 may have the same partition.
		return value.Script(n), nil
	case value.KindArray:
	default:
		return v, nil
	}
	return v, badRequest("A partition key value must be a string, a number, a boolean or null.")
}

// effectivePartitionKey returns version 2 of the service's hash: MurmurHash3 (128 bits, seed 0)
// of a type byte and the value, with its bytes reversed and the two highest bits cleared.
func effectivePartitionKey(key value.Value) [epkBytes]byte {
	var buffer [128]byte
	input := buffer[:0]
	switch key.Kind() {
	case value.KindUndefined:
		input = append(input, 0x00)
	case value.KindNull:
		input = append(input, 0x01)
	case value.KindBool:
		input = append(input, 0x02)
		if key.IsTrue() {
			input[0] = 0x03
		}
	case value.KindNumber:
		n, _ := key.AsNumber()
		input = binary.LittleEndian.AppendUint64(append(input, 0x05), math.Float64bits(n))
	case value.KindString:
		s, _ := key.AsString()
		input = append(append(append(input, 0x08), s...), 0xFF)
	}
	low, high := murmur3(input)
	var epk [epkBytes]byte
	binary.BigEndian.PutUint64(epk[:8], high)
	binary.BigEndian.PutUint64(epk[8:], low)
	epk[0] &= 0x3F
	return epk
}
