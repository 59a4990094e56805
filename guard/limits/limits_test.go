package limits_test

import (
	"math"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

func TestDefaultsAreConsistent(t *testing.T) {
	l := limits.Default()
	for rule, holds := range map[string]bool{
		"AnswerBytes is at most MaxAnswerBytes":              l.AnswerBytes <= blog.MaxAnswerBytes,
		"Errors is at most MostErrors":                       l.Errors <= limits.MostErrors,
		"AllBodiesBytes has room for one body":               l.BodyBytes <= l.AllBodiesBytes,
		"AllAnswersBytes has room for one answer":            2*l.AnswerBytes <= l.AllAnswersBytes,
		"HeaderTime is part of ReadTime":                     l.HeaderTime <= l.ReadTime,
		"WriteTime is at least the sum of ReadTime and Time": l.ReadTime+l.Time <= l.WriteTime,
	} {
		if !holds {
			t.Errorf("broken rule: %s: %+v", rule, l)
		}
	}
}

func TestOrDefault(t *testing.T) {
	if got := (limits.Limits{}).OrDefault(); got != limits.Default() {
		t.Errorf("got %+v, want the default limits", got)
	}
	if want := (limits.Limits{Connections: 1}); want.OrDefault() != want {
		t.Errorf("got %+v, want %+v", want.OrDefault(), want)
	}
}

func TestWithin(t *testing.T) {
	l := limits.Default()
	if got := l.Within(math.MaxInt64); got != l {
		t.Errorf("without a limit: %+v", got)
	}
	if got := l.Within(700 << 20); got.AllAnswersBytes != 175<<20 || got.AllBodiesBytes != 175<<20 || got.StreamsBytes != 175<<20 {
		t.Errorf("700 MiB: %+v", got)
	}
	l.BodyBytes = 100 << 20
	if got := l.Within(1); got.AllAnswersBytes < 2*l.ContentBytes || got.AllBodiesBytes < l.BodyBytes {
		t.Errorf("one body or one answer never fits: %+v", got)
	}
}
