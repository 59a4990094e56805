package follow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// continuation is the continuation that azcosmos writes: a JSON object with the position of each
// part of a feed range.
type continuation struct {
	Version    int                `json:"version"`
	ResourceID string             `json:"resourceId"` // of the container
	Parts      []continuationPart `json:"continuation"`
}

type continuationPart struct {
	Min   string          `json:"minInclusive"`
	Max   string          `json:"maxExclusive"`
	Token json.RawMessage `json:"continuationToken,omitempty"` // absent before the first read
}

func (p continuationPart) feedRange() FeedRange { return FeedRange{p.Min, p.Max} }

func parseContinuation(text string) (continuation, error) {
	var c continuation
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("follow: the continuation is malformed: %w", err)
	}
	if c.ResourceID == "" || len(c.Parts) == 0 {
		return c, fmt.Errorf("follow: the continuation names no container or no feed range: %q", text)
	}
	return c, nil
}

// ContinuationResourceID returns the resource id of the container that a continuation belongs
// to.
func ContinuationResourceID(text string) (string, error) {
	c, err := parseContinuation(text)
	return c.ResourceID, err
}

// ContinuationFromNow returns the continuation with which a feed range is read from the present on:
// the next page has only what changes after it is read. resourceID is that of the container. The
// service's header If-None-Match takes a star for the present (REST reference, "List documents").
func ContinuationFromNow(resourceID string, feedRange FeedRange) string {
	return continuationAt(resourceID, feedRange, present)
}

// ContinuationFromStart returns the continuation with which a feed range of any container is read
// from the beginning. Without one, azcosmos (1.5.0) enlarges the range to the partition key ranges
// that it knows. If one was split since, the page's continuation has the other parts, too. azcosmos
// cuts a range with a continuation at its bounds (clampChildrenToParent).
func ContinuationFromStart(feedRange FeedRange) string { return continuationAt("", feedRange, "") }

// continuationAt returns the continuation of a feed range at the position of a token.
func continuationAt(resourceID string, feedRange FeedRange, token string) string {
	text, err := json.Marshal(continuation{
		Version:    1,
		ResourceID: resourceID,
		Parts:      []continuationPart{{feedRange.Min, feedRange.Max, json.RawMessage(token)}},
	})
	if err != nil {
		panic(err) // strings and a constant
	}
	return string(text)
}

const present = `"*"`

// IsFromNow reports whether a continuation is ContinuationFromNow, for a part of its range at
// least. The account has then not reported a position yet.
func IsFromNow(text string) bool {
	c, err := parseContinuation(text)
	return err == nil && slices.ContainsFunc(c.Parts, func(p continuationPart) bool { return string(p.Token) == present })
}

// ContinuationNumber returns the log sequence number of a continuation. ok is false if it has
// several parts, or if the account writes its positions in another form than `"NUMBER"`.
func ContinuationNumber(text string) (number int64, ok bool) {
	c, err := parseContinuation(text)
	if err != nil || len(c.Parts) != 1 {
		return 0, false
	}
	return c.Parts[0].number()
}

// number returns the log sequence number of the part's position, if it has that form.
func (p continuationPart) number() (number int64, ok bool) {
	var etag string
	if json.Unmarshal(p.Token, &etag) != nil {
		return 0, false
	}
	number, err := strconv.ParseInt(strings.Trim(etag, `"`), 10, 64)
	return number, err == nil
}

// NarrowContinuation returns the continuation of one part of a feed range that was split. From
// there, each part is read on its own. It returns "" for "". Errors: the continuation is malformed,
// or does not cover the part.
func NarrowContinuation(text string, part FeedRange) (string, error) {
	if text == "" {
		return "", nil
	}
	c, err := parseContinuation(text)
	if err != nil {
		return "", err
	}
	if c.Parts = c.within(part); !covers(c.Parts, part) {
		return "", fmt.Errorf("follow: the continuation does not cover the feed range from %q to %q: %s", part.Min, part.Max, text)
	}
	narrowed, err := json.Marshal(c)
	return string(narrowed), err
}

// ContinuationRanges returns the feed ranges that a continuation has separate positions for:
// more than one if a feed range was split. It returns nil if the continuation is empty or
// malformed.
func ContinuationRanges(text string) []FeedRange {
	c, err := parseContinuation(text)
	if err != nil {
		return nil // ReadPage reports a malformed continuation
	}
	parts := make([]FeedRange, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = p.feedRange()
	}
	return parts
}

// MergeContinuations returns the continuation of a feed range that several were merged into: the
// earliest of theirs. From there, the merged range is read once, and what some of them have read is
// read again. It is "" for the beginning, if one of them is, or if the account writes positions
// that cannot be compared. ok is false if one of them has no position yet (IsFromNow). Error: one
// of them is malformed.
//
// That positions of before a merge are valid in the merged range is what SDKs rely on: each lease
// goes on with its own continuation (azure-cosmos-dotnet-v3, pull requests 2013 and 6079). So the
// changes after the earliest number are at least those after each of them. That the merged range
// keeps the numbers is our belief.
func MergeContinuations(texts []string, merged FeedRange) (text string, ok bool, err error) {
	least := int64(math.MaxInt64)
	whole := continuation{Version: 1}
	fromStart := false
	for _, text := range texts {
		if text == "" {
			fromStart = true
			continue
		}
		c, err := parseContinuation(text)
		if err != nil {
			return "", false, err
		}
		whole.ResourceID = c.ResourceID
		for _, p := range c.Parts {
			if string(p.Token) == present {
				return "", false, nil
			}
			number, isNumber := p.number()
			fromStart = fromStart || !isNumber
			if number <= least {
				least = number
				whole.Parts = []continuationPart{{merged.Min, merged.Max, p.Token}}
			}
		}
	}
	if fromStart {
		return "", true, nil
	}
	joined, err := json.Marshal(whole)
	return string(joined), err == nil, err
}

// within returns the parts of the continuation inside a feed range, cut at its boundaries, in
// order.
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

// covers reports whether sorted parts cover a feed range without a gap.
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
