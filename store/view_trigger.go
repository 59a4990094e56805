package store

import (
	"context"
	"net/http"
	"strings"

	"cosmosblog/internal/blog"
)

// unlessTriggerMissing gives a *MissingError in the place of the error of a write that named truncateFeed, where that is not
// registered. The service refuses such a write as it refuses one of a wrong item. An Entra ID token may not ask for the
// trigger: then an item that is not found although it was to be made, or a refusal that names the trigger, says it.
func (s *Store) unlessTriggerMissing(ctx context.Context, err error) error {
	if blog.CodeOf(err) == blog.Throttled {
		return err // the trigger itself was refused something
	}
	status, substatus := statusOf(err)
	notFound := status == http.StatusNotFound && substatus != readSessionNotAvailable && substatus != ownerNotFound
	if !notFound && status != http.StatusBadRequest {
		return err
	}
	_, there, readErr := s.procedures.read(ctx, truncateFeedScript)
	status, substatus = statusOf(readErr)
	switch {
	case status == http.StatusForbidden && substatus == managementForbidden:
		there = !notFound && !strings.Contains(err.Error(), truncateFeedScript.id)
	case readErr != nil:
		return asBlogError(readErr)
	}
	if there {
		return err
	}
	return &MissingError{Database: s.database, Scripts: []string{truncateFeedScript.id}}
}
