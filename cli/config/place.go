package config

import "strings"

// Place is one end of a copy: a database in a data folder or in an account. Either Folder or
// Endpoint is empty.
type Place struct{ Folder, Endpoint, Database string }

// ParsePlace parses the path of a data folder or the URL of an account. It may end with # and the
// name of a database. In a path, a # before the last slash is a part of the path.
func ParsePlace(text string) Place {
	isEndpoint := strings.Contains(text, "://")
	place, database := text, defaultDatabase
	if i := strings.LastIndexByte(text, '#'); i >= 0 && (isEndpoint || !strings.Contains(text[i:], "/")) {
		place, database = text[:i], text[i+1:]
	}
	if isEndpoint {
		return Place{Endpoint: place, Database: database}
	}
	return Place{Folder: place, Database: database}
}
