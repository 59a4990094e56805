package subscription

import (
	"sync"
	"time"
)

// answerKey names the answer of equal subscriptions to an event. The rule: everything in which two
// answers can differ is in the key, or the answer is its client's alone (answer.isOwn). The
// document, the variables and the viewer are in the subscription's key (API.CreateOperation), and
// what has happened is the event. Where a stream began, by an argument or Last-Event-ID, shows in
// an answer only as a gap.
type answerKey struct {
	subscription, event string
	hasGap              bool
}

// sharedAnswers are the answers that equal subscriptions share: those that are being made, and
// those of the last moments, for subscribers that come to the event somewhat later. All are small
// (memorypool.Small). It may be used concurrently.
type sharedAnswers struct {
	now func() time.Time

	mu    sync.Mutex
	byKey map[answerKey]*sharedAnswer
	kept  []*sharedAnswer // that were made, in that order
	bytes int             // of kept
}

const (
	// keptFor is the time in which thousands of subscribers come to an event on a busy machine.
	keptFor = time.Second
	// maxKept is the size of all answers that are kept, in bytes.
	maxKept = 8 << 20
)

// sharedAnswer is made by the subscriber that comes to an event first. The others wait for done.
// Only then may they read the answer or the error, which they would have, too. Without either, the
// first one could not make it, because of its client's budget, say: another one may do better. If
// the answer cannot be shared, each makes its own.
type sharedAnswer struct {
	key    answerKey
	begun  time.Time
	done   chan struct{}
	answer *answer
	err    error
	at     time.Time // when it was made
}

// enter returns the answer of a key, if it began after a time. isFirst reports that the caller must
// make it, and must call end.
func (s *sharedAnswers) enter(key answerKey, after time.Time) (shared *sharedAnswer, isFirst bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	if shared := s.byKey[key]; shared != nil && shared.begun.After(after) {
		return shared, false
	}
	if s.byKey == nil {
		s.byKey = map[answerKey]*sharedAnswer{}
	}
	shared = &sharedAnswer{key: key, begun: s.now(), done: make(chan struct{})}
	s.byKey[key] = shared
	return shared, true
}

// end wakes those who wait for an answer, and keeps it if it can be shared.
func (s *sharedAnswers) end(shared *sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(shared.done)
	if !shared.answer.canBeShared() {
		s.remove(shared)
		return
	}
	shared.at = s.now()
	s.kept = append(s.kept, shared)
	s.bytes += len(shared.answer.body)
	s.forget()
}

// remove removes an answer, unless a later one has replaced it.
func (s *sharedAnswers) remove(shared *sharedAnswer) {
	if s.byKey[shared.key] == shared {
		delete(s.byKey, shared.key)
	}
}

// forget drops the answers that are old, and the oldest beyond maxKept.
func (s *sharedAnswers) forget() {
	dropped := 0
	for now := s.now(); dropped < len(s.kept); dropped++ {
		oldest := s.kept[dropped]
		if now.Sub(oldest.at) < keptFor && s.bytes <= maxKept {
			break
		}
		s.bytes -= len(oldest.answer.body)
		s.remove(oldest)
		s.kept[dropped] = nil
	}
	s.kept = s.kept[dropped:]
}
