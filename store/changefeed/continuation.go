package changefeed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// continuation is azcosmos' token of a change feed: JSON that says, for each part of a feed range, how far that was read.
type continuation struct {
	Version    int                `json:"version"`
	ResourceID string             `json:"resourceId"` // of the container
	Parts      []continuationPart `json:"continuation"`
}

type continuationPart struct {
	Min   string          `json:"minInclusive"`
	Max   string          `json:"maxExclusive"`
	Token json.RawMessage `json:"continuationToken,omitempty"` // none where nothing was read yet
}

func (p continuationPart) feedRange() FeedRange { return FeedRange{p.Min, p.Max} }

func parseContinuation(text string) (continuation, error) {
	var c continuation
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("store: a continuation of a change feed that cannot be read: %w", err)
	}
	if c.ResourceID == "" || len(c.Parts) == 0 {
		return c, fmt.Errorf("store: a continuation of a change feed without a container or a range: %q", text)
	}
	return c, nil
}

// continuationResourceID finds which container a continuation of azcosmos belongs to.
func continuationResourceID(text string) (string, error) {
	c, err := parseContinuation(text)
	return c.ResourceID, err
}

// ContinuationOf gives what a continuation says of one part of its feed range: where that was split, each part goes on from
// there on its own. Without a continuation there is none for the part. Error: the continuation says nothing of some of
// the part.
func ContinuationOf(text string, part FeedRange) (string, error) {
	if text == "" {
		return "", nil
	}
	c, err := parseContinuation(text)
	if err != nil {
		return "", err
	}
	if c.Parts = c.within(part); !covers(c.Parts, part) {
		return "", fmt.Errorf("store: a continuation of a change feed that does not have all from %q to %q: %s", part.Min, part.Max, text)
	}
	narrowed, err := json.Marshal(c)
	return string(narrowed), err
}

// ContinuationRanges gives the feed ranges that a continuation says something of by itself: more than one where a range was split.
func ContinuationRanges(text string) []FeedRange {
	c, err := parseContinuation(text)
	if err != nil {
		return nil // there is none yet, or whoever uses it says what is wrong with it
	}
	parts := make([]FeedRange, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = p.feedRange()
	}
	return parts
}

// JoinContinuations gives one continuation of all parts of a feed range.
func JoinContinuations(texts []string) (string, error) {
	var whole continuation
	for _, text := range texts {
		c, err := parseContinuation(text)
		if err != nil {
			return "", err
		}
		c.Parts = append(whole.Parts, c.Parts...)
		whole = c
	}
	joined, err := json.Marshal(whole)
	return string(joined), err
}

// within gives the parts of the continuation that lie within a feed range, cut at its boundaries, in order.
func (c continuation) within(r FeedRange) []continuationPart {
	var parts []continuationPart
	for _, p := range c.Parts {
		if common := p.feedRange(); common.Overlaps(r) {
			common = r.Intersection(common)
			parts = append(parts, continuationPart{common.Min, common.Max, p.Token})
		}
	}
	slices.SortFunc(parts, func(a, b continuationPart) int { return cmp.Compare(a.Min, b.Min) })
	return parts
}

// covers tells whether parts, in order, leave nothing of a feed range out.
func covers(parts []continuationPart, r FeedRange) bool {
	end := r.Min
	for _, p := range parts {
		if isBelow(end, p.Min) {
			return false
		}
		if isBelow(end, p.Max) {
			end = p.Max
		}
	}
	return !isBelow(end, r.Max)
}
