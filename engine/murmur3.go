package engine

import (
	"encoding/binary"
	"math/bits"
)

const (
	murmurC1 = 0x87c37b91114253d5
	murmurC2 = 0x4cf5ad432745937f
)

// murmur3 returns MurmurHash3_x64_128 with seed 0, by Austin Appleby, in the public domain.
func murmur3(data []byte) (low, high uint64) {
	length := uint64(len(data))
	var h1, h2 uint64
	for ; len(data) >= 16; data = data[16:] {
		h1 ^= murmurK1(binary.LittleEndian.Uint64(data))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= murmurK2(binary.LittleEndian.Uint64(data[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], data)
	h2 ^= murmurK2(binary.LittleEndian.Uint64(tail[8:]))
	h1 ^= murmurK1(binary.LittleEndian.Uint64(tail[:]))
	h1, h2 = h1^length, h2^length
	h1 += h2
	h2 += h1
	h1, h2 = murmurMix(h1), murmurMix(h2)
	h1 += h2
	h2 += h1
	return h1, h2
}

func murmurK1(k uint64) uint64 { return bits.RotateLeft64(k*murmurC1, 31) * murmurC2 }

func murmurK2(k uint64) uint64 { return bits.RotateLeft64(k*murmurC2, 33) * murmurC1 }

func murmurMix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
