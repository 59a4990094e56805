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
// Only then may they read the fields below it.
type sharedAnswer struct {
	key         answerKey
	begun       time.Time
	isEnded     bool // guarded by the mutex of all
	done        chan struct{}
	answer      *answer // nil if nobody else may get it
	err         error   // of the first subscriber: the others would have it, too
	isAbandoned bool    // the first subscriber could not make it; another one should
	at          time.Time
}

// enter returns the answer of a key, if it began after a time. isFirst reports that the caller must
// make it, and must call leave.
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

// offer lets the others have an answer.
func (s *sharedAnswers) offer(shared *sharedAnswer, a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shared.answer, shared.at = a, s.now()
	s.kept = append(s.kept, shared)
	s.bytes += len(a.body)
	s.end(shared)
	s.forget()
}

// fail lets the others have an error instead of an answer.
func (s *sharedAnswers) fail(shared *sharedAnswer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shared.err = err
	s.end(shared)
}

// abandon tells the others that one of them must make the answer.
func (s *sharedAnswers) abandon(shared *sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shared.isAbandoned = true
	s.end(shared)
}

// leave tells the others that each must make its own answer, unless there is one or it was
// abandoned.
func (s *sharedAnswers) leave(shared *sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !shared.isEnded {
		s.end(shared)
	}
}

// end wakes those who wait for an answer. s.mu must be held.
func (s *sharedAnswers) end(shared *sharedAnswer) {
	shared.isEnded = true
	if shared.answer == nil {
		s.remove(shared)
	}
	close(shared.done)
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
