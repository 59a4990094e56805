package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"
)

// stream is the random source for one piece of a data set. It is always the same for the same
// piece.
type stream struct{ *rand.Rand }

// stream returns the stream of the piece with a purpose and numbers.
func (s *Set) stream(purpose string, numbers ...int) stream {
	sum := sha256.Sum256(fmt.Append(nil, s.seed, len(s.people), purpose, numbers))
	return stream{rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])))}
}

// from returns a number from least to most, uniformly distributed.
func (r stream) from(least, most int) int { return least + r.IntN(most-least+1) }

// between returns a time from first until just before last, in whole microseconds.
func (r stream) between(first, last time.Time) time.Time {
	return first.Add(time.Duration(r.Int64N(int64(last.Sub(first)/time.Microsecond))) * time.Microsecond)
}

// soonAfter returns a time after first. Most are soon after it, some much later, and none is
// after the end of the set. It uses only integers, because the results of logarithms differ
// between machines.
func (r stream) soonAfter(first time.Time) time.Time {
	const skew = 4 // number of times that the mean is halved
	delay := int64(end.Sub(first) / time.Microsecond)
	for range skew {
		delay = 1 + r.Int64N(delay)
	}
	return first.Add(time.Duration(delay) * time.Microsecond)
}

// one returns a random element of a list.
func one[T any](r stream, list []T) T { return list[r.IntN(len(list))] }

// Read fills b, so that a stream can be the source of an IDSource.
func (r stream) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

// distinct returns count different numbers below n, in no particular order (Floyd's algorithm:
// Bentley and Floyd, "A sample of brilliance", 1987).
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
