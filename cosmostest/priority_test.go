package cosmostest_test

import (
	"net/http"
	"testing"
	"time"

	"cosmosblog/cosmostest"
)

const (
	atLow  = "x-ms-cosmos-priority-level: Low"
	atHigh = "x-ms-cosmos-priority-level: High"
)

func inBucket(id string) string { return "x-ms-cosmos-throughput-bucket: " + id }

// read reads an item of a customer with headers, and returns the status.
func (s *throttled) read(customer string, headers ...string) answer {
	s.Helper()
	return s.rest("GET", docs+"/1", "", append(headers, of(customer))...)
}

// readAll reads an item until a read is refused. It returns the number of reads, which cost 1 RU
// each, and the refusal.
func (s *throttled) readAll(customer string, headers ...string) (reads int, refused answer) {
	s.Helper()
	for ; reads < 1000; reads++ {
		if refused = s.read(customer, headers...); refused.StatusCode != http.StatusOK {
			return reads, refused
		}
	}
	s.Fatal("no read was refused")
	return 0, refused
}

// newReaders opens an account with 20 RU/s for each of two ranges, and an item in each.
func newReaders(t *testing.T, options cosmostest.Options) *throttled {
	t.Helper()
	s := newThrottled(t, 40, options)
	s.put(s.left, "1")
	s.put(s.right, "1")
	s.clock.Advance(time.Hour)
	return s
}

// TestLowPriorityGivesWay checks that low priority leaves in each range what high priority used in
// the last second, and everything after a refusal.
func TestLowPriorityGivesWay(t *testing.T) {
	s := newReaders(t, cosmostest.Options{})
	if reads, _ := s.readAll(s.left, atLow); reads != 20 {
		t.Errorf("alone, low priority has %d RU, want 20", reads)
	}
	if got := s.read(s.left); got.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a read when nothing is left: %s", got.Status)
	}
	s.clock.Advance(time.Second)
	if reads, refused := s.readAll(s.left, atLow); reads != 0 || refused.Header.Get("X-Ms-Substatus") != "3200" ||
		refused.Header.Get("X-Ms-Retry-After-Ms") != "1000" || refused.Header.Get("X-Ms-Request-Charge") != "0.38" {
		t.Errorf("after a refusal at high priority: %d reads, then %v", reads, refused.Header)
	}
	for _, header := range []string{atHigh, "x-ms-cosmos-priority-level: Middle", "Unrelated: header"} {
		for range 5 {
			s.expect(http.StatusOK, s.read(s.left, header))
		}
	}
	s.clock.Advance(time.Second)
	if reads, _ := s.readAll(s.left, "x-ms-cosmos-priority-level: low"); reads != 5 {
		t.Errorf("after 15 RU at high priority, low priority has %d RU, want 5", reads)
	}
	if reads, _ := s.readAll(s.left); reads != 15 {
		t.Errorf("high priority then has %d RU, want 15", reads)
	}
	if reads, _ := s.readAll(s.right, atLow); reads != 20 {
		t.Errorf("in another range, low priority has %d RU, want 20", reads)
	}
}

// TestBuckets checks that a bucket has its percentage of each range, that its refusals leave the
// rest to others, and which ids are valid.
func TestBuckets(t *testing.T) {
	s := newReaders(t, cosmostest.Options{Buckets: map[int]float64{1: 25, 5: 100}})
	reads, refused := s.readAll(s.left, inBucket("1"))
	if reads != 5 || refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("X-Ms-Substatus") != "3212" ||
		refused.Header.Get("X-Ms-Retry-After-Ms") != "1000" || refused.Header.Get("X-Ms-Request-Charge") != "0.38" {
		t.Errorf("bucket 1: %d reads, then %s with %v", reads, refused.Status, refused.Header)
	}
	if reads, _ := s.readAll(s.right, inBucket("1")); reads != 5 {
		t.Errorf("bucket 1 in another range: %d reads, want 5", reads)
	}
	s.expect(http.StatusOK, s.read(s.left, atLow)) // no refusal at high priority keeps anything
	reads, refused = s.readAll(s.left, inBucket("2"))
	if reads != 14 || refused.Header.Get("X-Ms-Substatus") != "3200" {
		t.Errorf("bucket 2, without a percentage: %d reads, then %v, want the rest", reads, refused.Header)
	}
	s.clock.Advance(time.Second)
	if reads, _ := s.readAll(s.left, inBucket("5"), atLow); reads != 0 {
		t.Errorf("bucket 5 at low priority after a refusal: %d reads, want 0", reads)
	}
	if reads, _ := s.readAll(s.left, inBucket("1")); reads != 5 {
		t.Errorf("bucket 1 in the next second: %d reads, want 5", reads)
	}
	for _, id := range []string{"0", "6", "-1", "one", "1.5"} {
		s.expect(http.StatusBadRequest, s.read(s.left, inBucket(id)))
	}
}

// TestBucketsNeedThroughput checks that buckets do nothing in an account that does not throttle,
// apart from the check of their ids.
func TestBucketsNeedThroughput(t *testing.T) {
	s := newShop(t, cosmostest.Options{Buckets: map[int]float64{1: 1}})
	s.put("ada", "1")
	for range 50 {
		s.expect(http.StatusOK, s.rest("GET", docs+"/1", "", of("ada"), inBucket("1"), atLow))
	}
	s.expect(http.StatusBadRequest, s.rest("GET", docs+"/1", "", of("ada"), inBucket("6")))
}

// TestForegroundUnderBackground counts the reads of a foreground that are refused in ten seconds
// while background work sends as many requests as it can. The foreground needs three quarters of
// the throughput.
func TestForegroundUnderBackground(t *testing.T) {
	for _, test := range []struct {
		priority string
		refused  int // of 150
		work     int // reads of the background
	}{
		{atHigh, 150, 200},
		{atLow, 15, 20 + 0 + 8*5}, // all in the first second, before which there was no foreground
	} {
		s := newReaders(t, cosmostest.Options{})
		refused, work := 0, 0
		for range 10 {
			for tick := range 15 {
				reads, _ := s.readAll(s.left, test.priority)
				work += reads
				if s.read(s.left).StatusCode == http.StatusTooManyRequests {
					refused++
				}
				if tick < 14 {
					s.clock.Advance(time.Second / 15)
				}
			}
			s.clock.Advance(time.Second - 14*(time.Second/15))
		}
		if refused != test.refused || work != test.work {
			t.Errorf("background at %s: %d of 150 reads in the foreground refused, want %d; %d in the background, want %d",
				test.priority, refused, test.refused, work, test.work)
		}
	}
}
