package graphqlws

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/99designs/gqlgen/graphql"
)

// maxIDBytes is the maximum length of an operation's id. Client libraries use numbers, or UUIDs of
// 36 bytes. Every message of the operation repeats the id.
const maxIDBytes = 128

var connectionAck = []byte(`{"type":"connection_ack"}`)

// member copies a member of an object to a variable, if it is there and not null. It returns false
// if the member has another type.
func member[T any](object map[string]any, name string, to *T) (ok bool) {
	value := object[name]
	if value == nil {
		return true
	}
	*to, ok = value.(T)
	return ok
}

// idOf returns the id of a message. It returns false if the message has no acceptable one.
func idOf(message map[string]any) (string, bool) {
	id, ok := message["id"].(string)
	// Without the copy, the id would keep the text of the message in memory.
	return strings.Clone(id), ok && id != "" && len(id) <= maxIDBytes
}

// paramsOf returns the parameters of a subscribe message. It returns false if its payload is not
// acceptable. The query may be missing only if there is the id of a document, or if there are
// extensions, which may have its hash.
func paramsOf(message map[string]any) (params *graphql.RawParams, documentID string, ok bool) {
	payload, ok := message["payload"].(map[string]any)
	params = &graphql.RawParams{}
	ok = ok &&
		(payload["query"] != nil || payload["extensions"] != nil || payload["documentId"] != nil) &&
		member(payload, "documentId", &documentID) &&
		member(payload, "query", &params.Query) && member(payload, "operationName", &params.OperationName) &&
		member(payload, "variables", &params.Variables) && member(payload, "extensions", &params.Extensions)
	return params, documentID, ok
}

// frame returns a message of an operation. An empty payload, which is JSON, is omitted.
func frame(id, kind string, payload []byte) []byte {
	name, _ := json.Marshal(id) // a string never fails
	var message bytes.Buffer
	message.Grow(len(`{"id":,"type":"complete","payload":}`) + len(name) + len(payload))
	message.WriteString(`{"id":`)
	message.Write(name)
	message.WriteString(`,"type":"`)
	message.WriteString(kind)
	message.WriteByte('"')
	if len(payload) > 0 {
		message.WriteString(`,"payload":`)
		message.Write(payload)
	}
	message.WriteByte('}')
	return message.Bytes()
}

// pong returns the answer to a ping message with a payload, which may be nil.
func pong(payload map[string]any) ([]byte, error) {
	var message bytes.Buffer
	encoder := json.NewEncoder(&message)
	encoder.SetEscapeHTML(false) // six bytes for one would enlarge the answer
	err := encoder.Encode(struct {
		Type    string         `json:"type"`
		Payload map[string]any `json:"payload,omitzero"`
	}{"pong", payload})
	return message.Bytes(), err
}
