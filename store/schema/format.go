package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// Format is the number of the format of the items that this program reads and writes. Programs of
// different formats cannot share a database. Every database stores the number of its format in one
// item of leases.
const Format = 8

// formatItem is the item that stores the number of the format.
type formatItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Number int    `json:"number"`
}

const formatID = "format" // also the type and the partition key of the item

// FormatError is the error of a database whose format is not that of this program.
type FormatError struct {
	Database string
	Found    int // the stored number; 0 if the database has data and stores no number
}

func (e *FormatError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("the database %s has data, but does not store the number of its format: "+
			"use the program that wrote the data, or a new database or data folder; "+
			"if the container leases was lost, create its item %s (docs/operations.md)", e.Database, formatID)
	}
	return fmt.Sprintf("the database %s has the format %d, and this program needs the format %d: "+
		"use a program of the format %d, or a new database or data folder; "+
		"the command copy cannot convert between formats", e.Database, e.Found, Format, e.Found)
}

var _ cosmos.DefiniteError = (*FormatError)(nil)

// IsDefinite implements cosmos.DefiniteError.
func (*FormatError) IsDefinite() {}

// HasFormat reports whether a database stores the number of this program's format. It is false if
// the database has neither a number nor data. The containers users, posts and leases must exist.
// HasFormat writes nothing. Errors: *FormatError if the database stores another number, or has data
// and no number; that of a request.
func HasFormat(ctx context.Context, db *cosmos.DB) (bool, error) {
	ctx = cosmos.InSession(ctx)
	has, err := readFormat(ctx, db)
	if refused, ok := errors.AsType[*FormatError](err); !ok || refused.Found != 0 {
		return has, err
	}
	// Another process may have created the item, and then data, since we looked for the item. The
	// replica that answered may also be behind.
	if err := cosmos.AdvanceSession(ctx, db.Container(Leases), formatID, formatID); err != nil {
		return false, formatRequestError(db, err)
	}
	return readFormat(ctx, db)
}

// readFormat is HasFormat for a single look at the database, which a replica that is behind may
// answer. It only reads.
func readFormat(ctx context.Context, db *cosmos.DB) (bool, error) {
	item, _, err := cosmos.Read[formatItem](ctx, db.Container(Leases), formatID, formatID)
	switch {
	case err == nil && item.Number == Format:
		return true, nil
	case err == nil:
		return false, &FormatError{Database: db.Name(), Found: item.Number}
	case !cosmos.IsNotFound(err):
		return false, formatRequestError(db, err)
	}
	for _, container := range []string{Users, Posts} {
		isEmpty, err := isEmpty(ctx, db.Container(container))
		if err != nil {
			return false, formatRequestError(db, err)
		}
		if !isEmpty {
			return false, &FormatError{Database: db.Name()}
		}
	}
	return false, nil
}

// isEmpty reports whether a container has no items. The service rejects TOP in a query over all
// partitions, so isEmpty reads pages of one item, and stops at the first item.
func isEmpty(ctx context.Context, c *azcosmos.ContainerClient) (bool, error) {
	for page, err := range cosmos.Pages[json.RawMessage](ctx, c, azcosmos.NewPartitionKey(), `SELECT c.id FROM c`, 1) {
		if err != nil || len(page) > 0 {
			return false, err
		}
	}
	return true, nil
}

// storeFormat stores the number in a database for which HasFormat is false. Several processes may
// call it at the same time. ctx must have a session. Errors: *FormatError if another process has
// stored another number; that of a request.
func storeFormat(ctx context.Context, db *cosmos.DB) error {
	_, err := cosmos.Create(ctx, db.Container(Leases), formatID, formatItem{formatID, formatID, Format})
	if cosmos.IsConflict(err) {
		_, err = HasFormat(ctx, db)
		return err
	}
	return formatRequestError(db, err)
}

// formatRequestError returns the error of a request of this file, for the operator; nil for nil.
func formatRequestError(db *cosmos.DB, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("looking for the format of the database %s: %w", db.Name(), cosmos.SetupError(err))
}
