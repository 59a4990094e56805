package engine

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"cosmosblog/engine/value"
)

// parseResource parses the definition of a database, container or script. It drops system
// properties.
func parseResource(body []byte) (resource value.Value, name string, err error) {
	parsed, err := value.Parse(body)
	if err != nil {
		return parsed, "", badRequest("The body is not JSON: %v.", err)
	}
	if parsed.Kind() != value.KindObject {
		return parsed, "", badRequest("The body must be a JSON object.")
	}
	name, _ = parsed.Get("id").AsString()
	return withoutSystem(parsed), name, checkName(name)
}

// stamp adds the system properties to a definition, and the links to the lists that the resource
// contains.
func (e *Engine) stamp(resource value.Value, rid, self string, lists ...string) json.RawMessage {
	for _, list := range lists {
		resource = resource.With("_"+list, value.String(list+"/"))
	}
	resource = resource.With("_rid", value.String(rid)).
		With("_self", value.String(self)).
		With("_etag", value.String(e.newETag())).
		With("_ts", value.Number(float64(e.options.Now().Unix())))
	return value.Text(resource)
}

func (e *Engine) stampContainer(database, container uint32, resource value.Value) json.RawMessage {
	rid := containerRID(database, container)
	return e.stamp(resource, rid, "dbs/"+databaseRID(database)+"/colls/"+rid+"/", "docs", "sprocs", "triggers", "udfs", "conflicts")
}

// newETag returns a new etag, including its quotes. No resource ever had it.
func (e *Engine) newETag() string {
	serial := e.nextSerial()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], serial)
	return fmt.Sprintf("\"%x-%x-%x-0000-000000000000\"", b[:4], b[4:6], b[6:])
}
