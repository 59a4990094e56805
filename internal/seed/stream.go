package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"
)

// stream is the chance that one piece of the data set is made from. It is always the same for the same piece.
type stream struct{ *rand.Rand }

// stream gives the stream of a piece, told by a purpose and some numbers.
func (s *Set) stream(purpose string, numbers ...int) stream {
	sum := sha256.Sum256(fmt.Append(nil, s.seed, len(s.people), purpose, numbers))
	return stream{rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])))}
}

// from gives one of the numbers from least to most, each as likely as the others.
func (r stream) from(least, most int) int { return least + r.IntN(most-least+1) }

// between gives a moment from the first to before the last, to the microsecond.
func (r stream) between(first, last time.Time) time.Time {
	return first.Add(time.Duration(r.Int64N(int64(last.Sub(first)/time.Microsecond))) * time.Microsecond)
}

// soonAfter gives a moment after another: most soon, some much later, the last at the end of the set. It counts in whole
// numbers alone: logarithms are not the same on all machines.
func (r stream) soonAfter(first time.Time) time.Time {
	const skew = 4 // halves the mean as often
	delay := int64(end.Sub(first) / time.Microsecond)
	for range skew {
		delay = 1 + r.Int64N(delay)
	}
	return first.Add(time.Duration(delay) * time.Microsecond)
}

// one gives one of a list.
func one[T any](r stream, list []T) T { return list[r.IntN(len(list))] }

// Read fills b, so that a stream can be the source of ids.
func (r stream) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

// distinct gives so many of the numbers below n, each once, in no order (Floyd's sample: Bentley and Floyd, "A sample of
// brilliance", 1987).
func (r stream) distinct(count, n int) []int {
	chosen := make(map[int]bool, count)
	numbers := make([]int, 0, count)
	for top := n - count; top < n; top++ {
		number := r.IntN(top + 1)
		if chosen[number] {
			number = top
		}
		chosen[number] = true
		numbers = append(numbers, number)
	}
	return numbers
}
