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

	byToken bool // Entra ID authorizes the requests
}

// NewMissingError returns an error for containers and scripts that do not exist, by their names and
// ids. Its advice fits how the requests are authorized: a token of Entra ID can create neither
// (learn.microsoft.com/azure/cosmos-db/reference-data-plane-security).
func NewMissingError(db *cosmos.DB, containers, scripts []string) *MissingError {
	return &MissingError{Database: db.Name(), Containers: containers, Scripts: scripts, byToken: !db.HasKey()}
}

func (e *MissingError) Error() string {
	var missing []string
	if len(e.Containers) > 0 {
		missing = append(missing, "the containers "+strings.Join(e.Containers, ", "))
	}
	if len(e.Scripts) > 0 {
		missing = append(missing, "the scripts "+strings.Join(e.Scripts, ", "))
	}
	advice := "run the command provision, which creates them"
	if e.byToken {
		advice = "deploy the template of provision --print bicep, or run provision with the account's key, because Entra ID cannot create them"
	}
	return fmt.Sprintf("the database %s lacks %s: %s", e.Database, strings.Join(missing, " and "), advice)
}

var _ cosmos.DefiniteError = (*MissingError)(nil)

// IsDefinite implements cosmos.DefiniteError.
func (*MissingError) IsDefinite() {}

// Check verifies that all containers and scripts exist, and that the database has the format of
// this program. If the database has no data and no number of a format, Check stores the number. It
// also makes azcosmos load and cache the metadata that later requests need. Several processes may
// call it at the same time. Errors: *MissingError; *FormatError; other errors if the account does
// not answer or rejects the requests.
//
// blocked are the ids of the stored procedures that the account refuses to execute
// (cosmos.IsScriptBlocked). Only their own operations fail, so that is no error.
func Check(ctx context.Context, db *cosmos.DB) (blocked []string, err error) {
	missing, err := missingContainers(ctx, db)
	if err != nil {
		return nil, err
	}
	ctx = cosmos.WithSession(ctx)
	hasFormat := false
	if len(missing) == 0 { // before the scripts, because another format needs other ones
		if hasFormat, err = HasFormat(ctx, db); err != nil {
			return nil, err
		}
	}
	scripts, blocked, err := findScripts(ctx, db)
	switch {
	case err != nil:
		return nil, err
	case len(missing)+len(scripts) > 0:
		return nil, NewMissingError(db, missing, scripts)
	case !hasFormat:
		err = storeFormat(ctx, db)
	}
	return blocked, err
}

// CheckSource is Check for a database that is only read, such as the source of a copy. It needs no
// scripts, and writes nothing. An empty database without a number passes.
func CheckSource(ctx context.Context, db *cosmos.DB) error {
	missing, err := missingContainers(ctx, db)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return NewMissingError(db, missing, nil)
	}
	_, err = readFormat(ctx, db)
	return err
}

// missingContainers returns the names of the containers that do not exist.
func missingContainers(ctx context.Context, db *cosmos.DB) (names []string, err error) {
	for _, c := range Containers {
		_, err := db.Container(c.Name).ReadFeedRanges(ctx, nil)
		exists, err := cosmos.ExistsFromError(err)
		if err != nil {
			return nil, fmt.Errorf("reading the container %s of the database %s: %w", c.Name, db.Name(), cosmos.SetupError(err))
		}
		if !exists {
			names = append(names, c.Name)
		}
	}
	return names, nil
}

// findScripts returns the ids of the scripts that are not registered, and of those that are
// blocked.
func findScripts(ctx context.Context, db *cosmos.DB) (missing, blocked []string, err error) {
	for _, script := range Scripts {
		exists, err := hasScript(ctx, db, script)
		switch {
		case cosmos.IsScriptBlocked(err):
			blocked = append(blocked, script.ID)
		case err != nil:
			return nil, nil, fmt.Errorf("looking for the script %s of the database %s: %w", script.ID, db.Name(), cosmos.SetupError(err))
		case !exists:
			missing = append(missing, script.ID)
		}
	}
	return missing, blocked, nil
}

// hasScript reports whether a script is registered. It executes a stored procedure with a probe,
// which an Entra ID token may do too, and which also compiles the procedure. A trigger cannot be
// executed, so hasScript reads its definition. If that is forbidden, or the account answers no more
// requests for metadata, the trigger counts as registered.
func hasScript(ctx context.Context, db *cosmos.DB, script cosmos.Script) (bool, error) {
	if script.Trigger {
		_, exists, err := db.ReadScript(ctx, script)
		if cosmos.IsManagementForbidden(err) || cosmos.IsThrottled(cosmos.ToBlogError(err)) {
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
