package provision

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// DifferenceError lists the differences between a database and its definition. Only the owner
// can decide which of the two is right, so nothing was changed.
type DifferenceError struct {
	differences []schema.Difference
}

func (e *DifferenceError) Error() string {
	texts := make([]string, len(e.differences))
	for i, d := range e.differences {
		texts[i] = d.String()
	}
	return "nothing was changed, because the database differs from its definition: " + strings.Join(texts, "; ")
}

// scriptDifferences compares a script with the one that is registered under its id.
func scriptDifferences(s cosmos.Script, actual cosmos.ScriptDefinition) []schema.Difference {
	expected := s.Definition()
	resource := s.Label() + " of " + s.Container
	var found []schema.Difference
	if actual.Body != expected.Body {
		actualText, expectedText := textSummary(actual.Body), textSummary(expected.Body)
		found = append(found, schema.Difference{Resource: resource, Property: "text", Actual: actualText, Expected: expectedText})
	}
	if actual.Type != expected.Type || actual.Operation != expected.Operation {
		found = append(found, schema.Difference{Resource: resource, Property: "kind of trigger",
			Actual: actual.Type + " " + actual.Operation, Expected: expected.Type + " " + expected.Operation})
	}
	return found
}

// textSummary identifies a script's text by its length and hash.
func textSummary(body string) string {
	return fmt.Sprintf("one of %d bytes with the hash %.12x", len(body), sha256.Sum256([]byte(body)))
}
