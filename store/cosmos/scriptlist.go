package cosmos

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
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
		response, err := db.rest.pipeline.Do(request)
		if err != nil {
			return nil, err
		}
		if !runtime.HasStatusCode(response, http.StatusOK) {
			return nil, runtime.NewResponseError(response)
		}
		var page struct{ StoredProcedures, Triggers []RegisteredScript }
		if err := runtime.UnmarshalAsJSON(response, &page); err != nil {
			return nil, err
		}
		all = append(append(all, page.StoredProcedures...), page.Triggers...)
		if continuation = response.Header.Get(continuationHeader); continuation == "" {
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
