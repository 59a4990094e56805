package engine

import (
	"strings"
	"unicode"
)

// maxIDBytes is the service's limit (limits page of Azure Cosmos DB).
const maxIDBytes = 1023

// checkID rejects ids that the service could store but not address.
func checkID(id string) error {
	switch {
	case id == "" || len(id) > maxIDBytes:
		return badRequest("An id must have 1 to %d bytes.", maxIDBytes)
	case strings.ContainsAny(id, "/\\?#") || strings.ContainsFunc(id, unicode.IsControl) || strings.HasSuffix(id, " "):
		return badRequest("An id must not contain '/', '\\', '?', '#' or control characters, and not end with a space.")
	}
	return nil
}
