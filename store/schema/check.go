package schema

import (
	"context"
	"fmt"
	"strings"

	"cosmosblog/store/cosmos"
)

// MissingError lists the containers and scripts that a database lacks.
type MissingError struct {
	Database   string
	Containers []string
	Scripts    []string // ids
}

func (e *MissingError) Error() string {
	var missing []string
	if len(e.Containers) > 0 {
		missing = append(missing, "the containers "+strings.Join(e.Containers, ", "))
	}
	if len(e.Scripts) > 0 {
		missing = append(missing, "the scripts "+strings.Join(e.Scripts, ", "))
	}
	return fmt.Sprintf("the database %s lacks %s: run the command provision, which creates them",
		e.Database, strings.Join(missing, " and "))
}

var _ cosmos.DefiniteError = (*MissingError)(nil)

// IsDefinite implements cosmos.DefiniteError.
func (*MissingError) IsDefinite() {}

// Check verifies that all containers and scripts exist. It also makes azcosmos load and cache
// the metadata that later requests need. Errors: *MissingError; other errors if the account does
// not answer or rejects the requests.
func Check(ctx context.Context, db *cosmos.DB) error {
	missing := &MissingError{Database: db.Name()}
	for _, c := range Containers {
		_, err := db.Container(c.Name).ReadFeedRanges(ctx, nil)
		exists, err := cosmos.ExistsFromError(err)
		if err != nil {
			return fmt.Errorf("reading the container %s of the database %s: %w", c.Name, db.Name(), cosmos.SetupError(err))
		}
		if !exists {
			missing.Containers = append(missing.Containers, c.Name)
		}
	}
	for _, script := range Scripts {
		exists, err := hasScript(ctx, db, script)
		if err != nil {
			return fmt.Errorf("looking for the script %s of the database %s: %w", script.ID, db.Name(), cosmos.SetupError(err))
		}
		if !exists {
			missing.Scripts = append(missing.Scripts, script.ID)
		}
	}
	if len(missing.Containers)+len(missing.Scripts) > 0 {
		return missing
	}
	return nil
}

// hasScript reports whether a script is registered. It executes a stored procedure with a probe,
// which an Entra ID token may do too, and which also compiles the procedure. A trigger cannot be
// executed, so hasScript reads its definition. If that is forbidden, the trigger counts as
// registered.
func hasScript(ctx context.Context, db *cosmos.DB, script cosmos.Script) (bool, error) {
	if script.Trigger {
		_, exists, err := db.ReadScript(ctx, script)
		if cosmos.IsManagementForbidden(err) {
			return true, nil
		}
		return exists, err
	}
	const anyPartition = "probe"
	probe := struct {
		Probe bool `json:"probe"`
	}{true}
	_, err := db.Execute(ctx, script, anyPartition, probe, nil)
	return cosmos.ExistsFromError(err)
}
