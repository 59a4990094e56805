package subscription

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cosmosblog/guard/memorypool"
)

// offer ends with an answer that can be shared.
func (s *sharedAnswers) offer(shared *sharedAnswer, body string) {
	shared.answer = newAnswer([]byte(body))
	s.end(shared)
}

// The first to come makes an answer, and the others get it for a moment.
func TestSharedAnswers(t *testing.T) {
	now := time.Now()
	all := &sharedAnswers{now: func() time.Time { return now }}
	first, isFirst := all.enter(answerKey{"a", "1", false}, time.Time{})
	if !isFirst {
		t.Fatal("there is an answer at the beginning")
	}
	for _, key := range []answerKey{{"a", "2", false}, {"b", "1", false}, {"a", "1", true}} {
		if _, isFirst := all.enter(key, time.Time{}); !isFirst {
			t.Errorf("%v has the answer of another key", key)
		}
	}
	second, isFirst := all.enter(answerKey{"a", "1", false}, time.Time{})
	if isFirst || second != first {
		t.Fatal("the second to come must make an answer")
	}
	all.offer(first, "x")
	<-second.done
	if string(second.answer.body) != "x" {
		t.Errorf("got %s", second.answer.body)
	}
	now = now.Add(keptFor - 1)
	if _, isFirst := all.enter(answerKey{"a", "1", false}, time.Time{}); isFirst {
		t.Error("the answer was dropped early")
	}
	now = now.Add(1)
	if _, isFirst := all.enter(answerKey{"a", "1", false}, time.Time{}); !isFirst || all.bytes != 0 || len(all.kept) != 0 {
		t.Error("the answer is kept too long")
	}
}

// Who asks after an answer has begun gets another one, which replaces it.
func TestAnswersOfBefore(t *testing.T) {
	now := time.Now()
	all := &sharedAnswers{now: func() time.Time { return now }}
	key := answerKey{"a", "1", false}
	before, _ := all.enter(key, time.Time{})
	asked := now
	now = now.Add(time.Millisecond)
	later, isFirst := all.enter(key, asked)
	if !isFirst || later == before {
		t.Fatal("an answer that began before the request is shared")
	}
	all.offer(before, "x")
	if other, isFirst := all.enter(key, asked); isFirst || other != later {
		t.Error("the later answer is not shared")
	}
	now = now.Add(keptFor) // the answer of before is dropped
	if other, isFirst := all.enter(key, time.Time{}); isFirst || other != later {
		t.Error("the later answer was dropped with the one before")
	}
}

// If the first cannot make an answer, or it is only its own, nobody waits for it.
func TestAnswersThatAreNotShared(t *testing.T) {
	all := &sharedAnswers{now: time.Now}
	for name, a := range map[string]*answer{"none": nil, "own": {isOwn: true}, "large": {memory: new(memorypool.Share)}} {
		first, _ := all.enter(answerKey{}, time.Time{})
		first.answer = a
		all.end(first)
		<-first.done
		next, isFirst := all.enter(answerKey{}, time.Time{})
		if !isFirst || len(all.kept) != 0 {
			t.Errorf("%s: the answer is kept", name)
		}
		all.end(next)
	}
}

// Those who wait for an answer that was replaced go on when it ends, in whatever way.
func TestReplacedAnswersEnd(t *testing.T) {
	now := time.Now()
	for name, end := range map[string]func(*sharedAnswers, *sharedAnswer){
		"without": (*sharedAnswers).end,
		"offered": func(all *sharedAnswers, shared *sharedAnswer) { all.offer(shared, "x") },
	} {
		all := &sharedAnswers{now: func() time.Time { return now }}
		first, _ := all.enter(answerKey{}, time.Time{})
		asked := now
		now = now.Add(time.Millisecond)
		second, _ := all.enter(answerKey{}, asked)
		end(all, first)
		select {
		case <-first.done:
		default:
			t.Errorf("%s: those who wait for the answer wait for ever", name)
		}
		if other, isFirst := all.enter(answerKey{}, asked); isFirst || other != second {
			t.Errorf("%s: the answer that replaced it is gone", name)
		}
	}
}

// The answers that are kept have a bounded size.
func TestKeptAnswersAreBounded(t *testing.T) {
	all := &sharedAnswers{now: time.Now}
	body := strings.Repeat("x", 1<<20)
	for i := range 20 {
		shared, _ := all.enter(answerKey{"a", fmt.Sprint(i), false}, time.Time{})
		all.offer(shared, body)
		if all.bytes > maxKept || len(all.kept) != len(all.byKey) || all.bytes != len(all.kept)<<20 {
			t.Fatalf("%d answers with %d bytes are kept, %d by key", len(all.kept), all.bytes, len(all.byKey))
		}
	}
	if len(all.kept) != maxKept>>20 {
		t.Errorf("%d answers are kept", len(all.kept))
	}
}
