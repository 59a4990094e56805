package limits_test

import (
	"testing"

	"cosmosblog/internal/limits"
)

func TestDefaultsAreConsistent(t *testing.T) {
	l := limits.Default()
	for rule, holds := range map[string]bool{
		"AnswerBytes is at most MostAnswerBytes":             l.AnswerBytes <= limits.MostAnswerBytes,
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
