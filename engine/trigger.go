package engine

import (
	"bytes"
	"context"
	"strings"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// triggers are the triggers that a write names: at most one before it and one after it.
type triggers struct {
	pre, post *storedScript
	options   script.Options
}

// scripts returns the triggers, of which there may be none.
func (t triggers) scripts() (scripts []*storedScript) {
	for _, s := range []*storedScript{t.pre, t.post} {
		if s != nil {
			scripts = append(scripts, s)
		}
	}
	return scripts
}

// triggers finds the triggers that the request's headers name. It returns a 400 error if one
// does not exist or does not apply to the operation.
func (r *request) triggers(operation string) (t triggers, err error) {
	t.options = r.scriptOptions()
	if t.pre, err = r.trigger("X-Ms-Documentdb-Pre-Trigger-Include", "pre", operation); err != nil {
		return t, err
	}
	t.post, err = r.trigger("X-Ms-Documentdb-Post-Trigger-Include", "post", operation)
	return t, err
}

func (r *request) trigger(header, when, operation string) (*storedScript, error) {
	id := r.Header.Get(header)
	if id == "" {
		return nil, nil
	}
	s, ok := r.container.scripts[scriptName{"triggers", id}]
	switch {
	case strings.Contains(id, ","):
		return nil, badRequest("A write can name at most one pre-trigger and one post-trigger.")
	case operation == "Patch":
		return nil, badRequest("Triggers are not supported with PATCH by this engine.")
	case !ok:
		return nil, badRequest("The trigger '%s' does not exist.", id)
	case s.when != when:
		return nil, badRequest("The trigger '%s' is not a %s trigger.", id, when)
	case s.operation != "all" && !strings.EqualFold(s.operation, operation) && !(s.operation == "update" && operation == "Replace"):
		return nil, badRequest("The trigger '%s' does not apply to the operation %s.", id, operation)
	}
	return s, nil
}

// execute executes a write and its triggers in one transaction. body is the body of the response.
//
// If minimal is true, the response has no body, and the trigger after the write sees none either
// (Microsoft, "Best practices for Azure Cosmos DB .NET SDK": turning the content off "will also
// disable the response from a trigger operation"; azure-sdk-for-java issue 21224).
func (t triggers) execute(
	ctx context.Context, tx *transaction, w itemWrite, f operation, minimal bool,
) (done outcome, body []byte, err error) {
	if t.pre != nil {
		if w.body, err = t.before(ctx, tx, w); err != nil {
			return done, nil, err
		}
	}
	if done, err = f(tx, w); err != nil {
		return done, nil, err
	}
	if done.record != nil && !minimal {
		body = done.record.text
	}
	if t.post == nil {
		return done, body, nil
	}
	stored := body
	if body, err = t.after(ctx, tx, w, stored); err != nil || done.record == nil {
		return done, body, err
	}
	done.record = tx.changes[done.id].new // the trigger may have replaced or deleted it
	if done.record != nil && bytes.Equal(body, stored) {
		body = done.record.text
	}
	return done, body, nil
}

func (w itemWrite) forScript() script.Write {
	if w.body.IsUndefined() {
		return script.Write{Operation: w.operation}
	}
	return script.Write{Operation: w.operation, Body: value.Text(w.body)}
}

func (t triggers) before(ctx context.Context, tx *transaction, w itemWrite) (value.Value, error) {
	tx.charge += scriptBase
	program, err := t.pre.program()
	if err != nil {
		return w.body, scriptFailure(err)
	}
	body, err := program.Before(ctx, &scriptCollection{tx}, w.forScript(), t.options)
	if err != nil || len(body) == 0 {
		return w.body, scriptFailure(err)
	}
	changed, err := value.Parse(body)
	if err != nil {
		return w.body, badRequest("The trigger set a body that is not JSON: %v.", err)
	}
	return changed, nil
}

func (t triggers) after(ctx context.Context, tx *transaction, w itemWrite, stored []byte) ([]byte, error) {
	tx.charge += scriptBase
	program, err := t.post.program()
	if err != nil {
		return nil, scriptFailure(err)
	}
	body, err := program.After(ctx, &scriptCollection{tx}, w.forScript(), stored, t.options)
	return body, scriptFailure(err)
}
