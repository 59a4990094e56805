package cosmos

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// RegisteredScript is a stored procedure or trigger of a container, as the account lists it.
type RegisteredScript struct {
	ID         string `json:"id"`
	Registered int64  `json:"_ts"` // seconds since 1970, by the account's clock
}

// RegisteredAt returns the time of the registration.
func (s RegisteredScript) RegisteredAt() time.Time { return time.Unix(s.Registered, 0) }

const continuationHeader = "X-Ms-Continuation"

// ListScripts returns all scripts of a container that have the kind of a script: all stored
// procedures, or all triggers. It requires the account's key, as ReadScript does.
func (db *DB) ListScripts(ctx context.Context, of Script) ([]RegisteredScript, error) {
	var all []RegisteredScript
	for continuation := ""; ; {
		request, err := db.rest.newRequest(ctx, http.MethodGet, of, "")
		if err != nil {
			return nil, err
		}
		if continuation != "" {
			request.Raw().Header.Set(continuationHeader, continuation)
		}
		var page struct{ StoredProcedures, Triggers []RegisteredScript }
		header, err := db.rest.exchange(request, nil, http.StatusOK, &page)
		if err != nil {
			return nil, err
		}
		all = append(append(all, page.StoredProcedures...), page.Triggers...)
		if continuation = header.Get(continuationHeader); continuation == "" {
			return all, nil
		}
	}
}

// DeleteScript deletes a script. deleted is false if there was none. Until it is registered again,
// executions of it get NOT_FOUND.
func (db *DB) DeleteScript(ctx context.Context, s Script) (deleted bool, err error) {
	request, err := db.rest.newRequest(ctx, http.MethodDelete, s, s.ID)
	if err != nil {
		return false, err
	}
	return ExistsFromError(db.rest.send(request, nil, http.StatusNoContent, nil))
}

// ReadScript reads the definition of a script. exists is false if no script is registered under the
// id. It requires the account's key: with an Entra ID token, the error satisfies
// IsManagementForbidden.
func (db *DB) ReadScript(ctx context.Context, s Script) (registered ScriptDefinition, exists bool, err error) {
	return db.rest.readScript(ctx, s)
}

func (c *restClient) readScript(ctx context.Context, s Script) (registered ScriptDefinition, exists bool, err error) {
	request, err := c.newRequest(ctx, http.MethodGet, s, s.ID)
	if err != nil {
		return registered, false, err
	}
	exists, err = ExistsFromError(c.send(request, nil, http.StatusOK, &registered))
	return registered, exists, err
}

// RegisterScript registers a script. created is false if it was registered before. Its text is then
// the same, because the id contains a hash of the text.
func (db *DB) RegisterScript(ctx context.Context, s Script) (created bool, err error) {
	return db.rest.register(ctx, s)
}

func (c *restClient) register(ctx context.Context, s Script) (created bool, err error) {
	request, err := c.newRequest(ctx, http.MethodPost, s, "")
	if err != nil {
		return false, err
	}
	body, err := json.Marshal(s.Definition())
	if err != nil {
		return false, err
	}
	return CreatedFromError(c.send(request, body, http.StatusCreated, nil))
}
