package engine

import (
	"encoding/base64"
	"encoding/json"

	"cosmosblog/engine/query"
)

// continuation is the position at which a query continues. It is valid only for the same query
// text and parameters.
type continuation struct {
	Fingerprint string         `json:"q"`
	PlanID      string         `json:"a,omitempty"` // how candidates were found: see plan.planID
	Position    []byte         `json:"p,omitempty"` // of the last candidate read
	Progress    query.Progress `json:"n"`
}

// maxPosition is the maximum length of a position in a continuation, which must fit into a
// header. Positions in an index of long texts can be longer; then the continuation counts rows
// instead.
const maxPosition = 4 << 10

// token returns the text of the continuation of a query with a fingerprint, or "" at the end.
func (c *continuation) token(fingerprint string) string {
	if c == nil {
		return ""
	}
	c.Fingerprint = fingerprint
	return c.String()
}

func (c *continuation) String() string {
	text, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseContinuation(token, fingerprint string) (continuation, error) {
	var c continuation
	if token == "" {
		return c, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, errBadContinuation
	}
	if c.Fingerprint != fingerprint {
		return c, badRequest("The continuation token belongs to another query.")
	}
	return c, nil
}
