package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// scriptName identifies a stored procedure or a trigger of a container.
type scriptName struct {
	kind string // sprocs or triggers, as in a path
	id   string
}

// storedScript is a stored procedure or a trigger. It is compiled on its first execution, not
// when it is stored.
type storedScript struct {
	name      scriptName
	rid       string // resource id
	resource  json.RawMessage
	when      string // of a trigger: pre or post
	operation string // of a trigger: all, create, replace, delete, upsert or update
	program   func() (*script.Program, error)
	strikes   atomic.Int32 // executions beyond the limit, since the script was made or loaded
}

// An execution may take maxScriptSeconds of the container's throughput. After maxStrikes executions
// of a script that took more, or ran out of time, the script is blocked. The service does not
// publish its limits. Its .NET SDK tests a script that is blocked after six executions, and calls
// it three strikes (GatewayTests, ValidateStoredProceduresBlacklisting).
const (
	maxScriptSeconds = 2
	maxStrikes       = 3
)

// errBlocked returns the error of a blocked script, or nil if it is not blocked. It is blocked
// until it is made again: its users reported that deleting and creating it helps.
func (s *storedScript) errBlocked() error {
	if s.strikes.Load() < maxStrikes {
		return nil
	}
	return errorf(http.StatusForbidden, 0,
		"The script with id '%s' is blocked for execution because it has violated its allowed resource limit several times.", s.name.id)
}

// transactScripts runs work in a transaction, as run does, and counts it against the limits of the
// scripts that it executes. Options.SnapshotScripts applies to it. Error: 403 if one is blocked.
func (r *request) transactScripts(p partition, work func(*transaction) error, scripts ...*storedScript) (*response, error) {
	for _, s := range scripts {
		if err := s.errBlocked(); err != nil {
			return nil, err
		}
	}
	commit := (*transaction).locked
	if r.engine.options.SnapshotScripts {
		commit = (*transaction).optimistic
	}
	answer, err := r.run(p, commit, work)
	rejection, _ := protocolError(err)
	isOver := answer != nil && answer.charge > maxScriptSeconds*r.engine.throughputOf(r.database, r.container)
	if isOver || rejection != nil && rejection.Status == http.StatusRequestTimeout {
		for _, s := range scripts {
			s.strikes.Add(1)
		}
	}
	return answer, err
}

func newScript(kind string, resource json.RawMessage) (*storedScript, error) {
	root, err := value.Parse(resource)
	if err != nil {
		return nil, fmt.Errorf("engine: the definition of a script is damaged: %w", err)
	}
	text := func(name string) string { s, _ := root.Get(name).AsString(); return s }
	return &storedScript{
		name:      scriptName{kind, text("id")},
		rid:       text("_rid"),
		resource:  resource,
		when:      strings.ToLower(text("triggerType")),
		operation: strings.ToLower(text("triggerOperation")),
		program:   sync.OnceValues(func() (*script.Program, error) { return script.Compile(text("id"), text("body")) }),
	}, nil
}

func scriptKey(c *container, name scriptName) []byte {
	return containerKey(spaceScript, c.number, []byte(name.kind+"/"+name.id)...)
}

func (e *Engine) loadScripts(c *container) error {
	prefix := containerKey(spaceScript, c.number)
	return e.each(prefix, func(key, stored []byte) error {
		kind, _, _ := strings.Cut(string(key[len(prefix):]), "/")
		s, err := newScript(kind, append(json.RawMessage(nil), stored...))
		if err != nil {
			return err
		}
		c.scripts[s.name] = s
		return nil
	})
}

// parseScript parses and checks the definition of a script.
func parseScript(kind string, body []byte) (value.Value, scriptName, error) {
	resource, id, err := parseResource(body)
	if err != nil {
		return resource, scriptName{}, err
	}
	required := []string{"body"}
	if kind == "triggers" {
		required = append(required, "triggerType", "triggerOperation")
	}
	missing := ""
	for _, name := range required {
		if text, ok := resource.Get(name).AsString(); !ok || text == "" {
			missing += name + "; "
		}
	}
	if missing != "" {
		return resource, scriptName{}, badRequest("The input content is invalid because the required properties - '%s' - are missing", missing)
	}
	return resource, scriptName{kind, id}, checkTrigger(kind, resource)
}

// checkTrigger checks a trigger's type and operation, regardless of case, because SDKs differ in
// it.
func checkTrigger(kind string, resource value.Value) error {
	if kind != "triggers" {
		return nil
	}
	when, _ := resource.Get("triggerType").AsString()
	operation, _ := resource.Get("triggerOperation").AsString()
	if !strings.EqualFold(when, "Pre") && !strings.EqualFold(when, "Post") {
		return badRequest("The triggerType must be Pre or Post.")
	}
	switch strings.ToLower(operation) {
	case "all", "create", "replace", "delete", "update", "upsert":
		return nil
	}
	return badRequest("The triggerOperation must be All, Create, Replace, Delete, Update or Upsert.")
}

// changeScripts replaces the container's set of scripts. The function change modifies a copy.
func (r *request) changeScripts(change func(scripts map[scriptName]*storedScript, batch *pebble.Batch) error) error {
	return r.engine.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d := next.databases[r.database.name]
		if d == nil || d.containers[r.container.name] == nil || d.containers[r.container.name].number != r.container.number {
			return errOwnerNotFound
		}
		c := *d.containers[r.container.name]
		scripts := maps.Clone(c.scripts)
		c.scripts = scripts
		next.databases[d.name] = d.with(c.name, &c)
		return change(scripts, batch)
	})
}

func (r *request) kind() string { return r.kinds[2] }

// listScripts lists the scripts or returns the results of a query over them.
func (r *request) listScripts() (*response, error) {
	byID := map[string]*storedScript{}
	for name, s := range r.container.scripts {
		if name.kind == r.kind() {
			byID[name.id] = s
		}
	}
	var definitions []json.RawMessage
	for _, s := range sorted(byID) {
		definitions = append(definitions, s.resource)
	}
	name := "StoredProcedures"
	if r.kind() == "triggers" {
		name = "Triggers"
	}
	return r.listDefinitions(r.container.rid, name, definitions)
}

// createScript stores a script or executes a query over the stored ones.
func (r *request) createScript() (*response, error) {
	if IsQuery(r.Header) {
		return r.listScripts()
	}
	if r.headerIsTrue("X-Ms-Documentdb-Is-Upsert") {
		return nil, badRequest("Upserts for scripts in collections with multiple partitions are not supported.")
	}
	resource, name, err := parseScript(r.kind(), r.body)
	if err != nil {
		return nil, err
	}
	return r.storeScript(http.StatusCreated, resource, name, func(old *storedScript) error {
		if old != nil {
			return errConflict
		}
		return nil
	})
}

// Strikes returns the number of executions of a container's scripts that took more than a script
// may, since each script was made or the engine was opened. Error: there is no such container.
func (e *Engine) Strikes(database, container string) (strikes int, err error) {
	c, rejection := e.container(database, container)
	if rejection != nil {
		return 0, fmt.Errorf("engine: strikes of %s/%s: %w", database, container, rejection)
	}
	for _, s := range c.scripts {
		strikes += int(s.strikes.Load())
	}
	return strikes, nil
}

// checkCount returns an error if a container has more stored procedures than the service allows.
func checkCount(scripts map[scriptName]*storedScript) error {
	procedures := 0
	for name := range scripts {
		if name.kind == "sprocs" {
			procedures++
		}
	}
	if procedures > maxProcedures {
		return errorf(http.StatusForbidden, 0, "The container has reached its limit of %d stored procedures.", maxProcedures)
	}
	return nil
}

func (r *request) readScript() (*response, error) {
	s, ok := r.container.scripts[scriptName{r.kind(), r.names[2]}]
	if !ok {
		return nil, errResourceNotFound
	}
	return definitionResponse(http.StatusOK, s.resource, metadataCharge), nil
}

func (r *request) replaceScript() (*response, error) {
	resource, name, err := parseScript(r.kind(), r.body)
	if err != nil {
		return nil, err
	}
	if name.id != r.names[2] {
		return nil, badRequest("The id of a script cannot be changed.")
	}
	return r.storeScript(http.StatusOK, resource, name, r.matchScript)
}

func (r *request) deleteScript() (*response, error) {
	name := scriptName{r.kind(), r.names[2]}
	err := r.changeScripts(func(scripts map[scriptName]*storedScript, batch *pebble.Batch) error {
		if err := r.matchScript(scripts[name]); err != nil {
			return err
		}
		delete(scripts, name)
		return batch.Delete(scriptKey(r.container, name), nil)
	})
	return noContent(manageCharge), err
}

// matchScript compares the stored script's etag with the header If-Match.
func (r *request) matchScript(old *storedScript) error {
	if old == nil {
		return errResourceNotFound
	}
	root, err := value.Parse(old.resource)
	if err != nil {
		return err
	}
	etag, _ := root.Get("_etag").AsString()
	if ifMatch := r.Header.Get("If-Match"); ifMatch != "" && ifMatch != "*" && ifMatch != etag {
		return errPrecondition
	}
	return nil
}

// storeScript stores a script if precondition accepts the stored one.
func (r *request) storeScript(status int, resource value.Value, name scriptName, precondition func(old *storedScript) error) (*response, error) {
	var stored *storedScript
	err := r.changeScripts(func(scripts map[scriptName]*storedScript, batch *pebble.Batch) error {
		old := scripts[name]
		if err := precondition(old); err != nil {
			return err
		}
		rid := r.newScriptRID()
		if old != nil {
			rid = old.rid
		}
		stamped := r.engine.stamp(resource, rid, r.container.self()+name.kind+"/"+rid+"/")
		s, err := newScript(name.kind, stamped)
		if err != nil {
			return err
		}
		stored, scripts[name] = s, s
		if err := checkCount(scripts); err != nil {
			return err
		}
		return batch.Set(scriptKey(r.container, name), stamped, nil)
	})
	if err != nil {
		return nil, err
	}
	return definitionResponse(status, stored.resource, manageCharge), nil
}

func (r *request) newScriptRID() string {
	var kind byte = kindProcedure
	if r.kind() == "triggers" {
		kind = kindTrigger
	}
	return childRID(r.container.databaseNumber, r.container.number, kind, r.engine.nextSerial())
}
