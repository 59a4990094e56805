package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cosmosblog/internal/blog"
)

// MissingError says which containers and scripts a database lacks.
type MissingError struct {
	Database   string
	Containers []string
	Scripts    []string // by their ids
}

func (e *MissingError) Error() string {
	var missing []string
	if len(e.Containers) > 0 {
		missing = append(missing, "the containers "+strings.Join(e.Containers, ", "))
	}
	if len(e.Scripts) > 0 {
		missing = append(missing, "the scripts "+strings.Join(e.Scripts, ", "))
	}
	return fmt.Sprintf("the database %s lacks %s: run the command provision, which makes what is missing",
		e.Database, strings.Join(missing, " and "))
}

// Check looks whether all containers and scripts are there, and makes azcosmos read and keep what it needs to know of
// the containers. Errors: *MissingError; others where the account cannot be asked.
func (s *Store) Check(ctx context.Context) error {
	missing := &MissingError{Database: s.database}
	for _, d := range definitions {
		_, err := s.containers[d.name].ReadFeedRanges(ctx, nil)
		there, err := found(err)
		if err != nil {
			return fmt.Errorf("reading the container %s of the database %s: %w", d.name, s.database, explained(err))
		}
		if !there {
			missing.Containers = append(missing.Containers, d.name)
		}
	}
	for _, script := range scripts {
		there, err := s.hasScript(ctx, script)
		if err != nil {
			return fmt.Errorf("looking for the script %s of the database %s: %w", script.id, s.database, explained(err))
		}
		if !there {
			missing.Scripts = append(missing.Scripts, script.id)
		}
	}
	if len(missing.Containers)+len(missing.Scripts) > 0 {
		return missing
	}
	return nil
}

// hasScript asks a stored procedure whether it is there by executing it, which also compiles it, and which an Entra ID
// token may. A trigger cannot be executed: its definition is read, and where that is forbidden it is taken to be there.
func (s *Store) hasScript(ctx context.Context, script script) (bool, error) {
	if script.trigger {
		_, there, err := s.procedures.read(ctx, script)
		if status, substatus := statusOf(err); status == http.StatusForbidden && substatus == managementForbidden {
			return true, nil
		}
		return there, err
	}
	const anyPartition = "probe"
	_, err := s.procedures.execute(ctx, script, anyPartition, probeArgument{Probe: true}, nil)
	return found(err)
}

// managementForbidden is the substatus of 403 where an Entra ID token asks for what only the key may.
const managementForbidden = 5300

// found makes an answer of "not there" out of an error that says it.
func found(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if status, substatus := statusOf(err); status == http.StatusNotFound && substatus != readSessionNotAvailable {
		return false, nil
	}
	return false, err
}

// madeNew makes an answer of "there already" out of an error that says it.
func madeNew(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if status, _ := statusOf(err); status == http.StatusConflict {
		return false, nil
	}
	return false, err
}

// explained says in a sentence what the account's refusals mean at the start; the answer's own text is long.
func explained(err error) error {
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err != nil {
		err = e.Err
	}
	switch status, substatus := statusOf(err); status {
	case 0:
		return err
	case http.StatusUnauthorized:
		return errors.New("the account refused the key or token (401)")
	case http.StatusForbidden:
		if substatus == managementForbidden {
			return errors.New("Entra ID may not make or read definitions (403/5300), whatever its roles: set COSMOS_KEY for provision, or deploy what provision --print bicep writes")
		}
		return fmt.Errorf("the account forbids it (403/%d): its firewall, or a role that is missing", substatus)
	default:
		return fmt.Errorf("the account answered %d: %w", status, err)
	}
}
