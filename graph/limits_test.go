package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
)

// both returns the results of an operation with plain fields appended and resolved.
func both(operation func() executed) (appended, resolved executed) {
	appended = operation()
	graph.WithoutPlainFields(func() { resolved = operation() })
	return appended, resolved
}

// The texts of one object, of all objects and of the response have limits. Responses up to the
// limit of responses are equal, and longer ones exceed it with and without plain fields.
func TestPlainFieldsWithinLimits(t *testing.T) {
	for _, bytes := range []int{100, 5_000, 11_000, 60_000, 200_000} {
		for _, aliases := range []int{1, 3} {
			var selected strings.Builder
			for i := range aliases {
				fmt.Fprintf(&selected, " a%d: content", i)
			}
			document := fmt.Sprintf(`{ post(id: "x") { comments { nodes { id%s } }
				again: comments { nodes { id%s } edges { cursor node { id%s } } } } }`, &selected, &selected, &selected)
			operation := newOperation(t, newMemory(20, bytes), document)
			appended, resolved := both(func() executed { return operation(t.Context()) })
			isTooLarge := len(resolved.data) > blog.MaxAnswerBytes
			if isTooLarge != (len(appended.data) > blog.MaxAnswerBytes) || !isTooLarge && appended != resolved {
				t.Errorf("%d bytes, %d aliases: %d bytes appended, %d resolved", bytes, aliases, len(appended.data), len(resolved.data))
			}
			if most := blog.MaxAnswerBytes * 3; len(appended.data) > most {
				t.Errorf("%d bytes, %d aliases: %d bytes, more than %d", bytes, aliases, len(appended.data), most)
			}
		}
	}
}

// After the deadline, gqlgen fails lists, and so do plain fields.
func TestPlainFieldsAfterDeadline(t *testing.T) {
	m := newMemory(3, 10)
	posts := m.feed
	var cancel context.CancelFunc
	m.feed = func(ctx context.Context) *model.PostConnection {
		cancel()
		return posts(ctx)
	}
	operation := newOperation(t, m, feedDocument)
	appended, resolved := both(func() executed {
		ctx, c := context.WithCancel(t.Context())
		defer c()
		cancel = c
		return operation(ctx)
	})
	if appended != resolved || !strings.Contains(resolved.errors, context.Canceled.Error()) {
		t.Errorf("appended: %v\nresolved: %v", appended, resolved)
	}
}

// Without plain fields, the documents of the benchmark need several times the allocations.
func TestPlainFieldsSaveAllocations(t *testing.T) {
	for _, test := range []struct {
		document string
		ratio    float64
	}{{feedDocument, 15}, {commentsDocument, 9}, {likedDocument, 3}} {
		operation := newOperation(t, newMemory(20, 300), test.document)
		measure := func() float64 { return testing.AllocsPerRun(10, func() { operation(t.Context()) }) }
		appended, resolved := measure(), 0.0
		graph.WithoutPlainFields(func() { resolved = measure() })
		if resolved < test.ratio*appended {
			t.Errorf("%s\n%.0f allocations, and %.0f without plain fields: less than %.0f times as many",
				test.document, appended, resolved, test.ratio)
		}
	}
}
