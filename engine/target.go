package engine

import (
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// target holds the alternating kinds and names in a request's path. If the path is a list, the
// last name is missing.
type target struct {
	kinds []string // dbs, colls, docs, …
	names []string
}

// parseTarget parses an escaped path and unescapes its names.
func parseTarget(escapedPath string) (target, error) {
	var t target
	path := strings.Trim(escapedPath, "/")
	if path == "" {
		return t, nil
	}
	names := make([]string, 0, 8) // enough for all paths that are served
	t.kinds, t.names = names[:0:4], names[4:4:8]
	for i := 0; path != ""; i++ {
		var part string
		part, path, _ = strings.Cut(path, "/")
		name, err := url.PathUnescape(part)
		if err != nil || name == "" {
			return t, badRequest("The path of the request is invalid.")
		}
		if i%2 == 0 {
			t.kinds = append(t.kinds, name)
		} else {
			t.names = append(t.names, name)
		}
	}
	return t, nil
}

// appendPattern appends the kinds, with a star for each name: "dbs/*/colls/*/docs".
func (t target) appendPattern(pattern []byte) []byte {
	for i, kind := range t.kinds {
		if i > 0 {
			pattern = append(pattern, '/')
		}
		pattern = append(pattern, kind...)
		if i < len(t.names) {
			pattern = append(pattern, "/*"...)
		}
	}
	return pattern
}

// kind returns the kind of the resource or list that the path names, or "" for the account.
func (t target) kind() string {
	if len(t.kinds) == 0 {
		return ""
	}
	return t.kinds[len(t.kinds)-1]
}

// appendLink appends the link that a signature covers. A list is signed with its owner's link.
func (t target) appendLink(link []byte) []byte {
	if t.kind() == "offers" {
		return t.appendResourceID(link)
	}
	for i, name := range t.names {
		if i > 0 {
			link = append(link, '/')
		}
		link = append(append(append(link, t.kinds[i]...), '/'), name...)
	}
	return link
}

// appendResourceID appends the link that a signature covers if the path consists of resource ids:
// the last one in lower case.
func (t target) appendResourceID(link []byte) []byte {
	if len(t.names) == 0 {
		return link
	}
	return appendLower(link, t.names[len(t.names)-1])
}

// decodedAgain returns the target whose link the service's gateway computes a signature from: it
// decodes a path twice. Clients sign the names themselves, so they cannot address one with what
// looks like an escape, such as "a%20b" (azure-cosmos-dotnet-v2#150, whose payload shows the second
// decoding, and #458; 401 in dotnet-v3's EmulatorTests/CosmosItemIdEncodingTestsBase.cs). A percent
// sign before anything else than two hexadecimal digits stays.
func (t target) decodedAgain() target {
	for i, name := range t.names {
		if strings.Contains(name, "%") {
			decoded := t
			decoded.names = slices.Clone(t.names)
			for j := i; j < len(t.names); j++ {
				decoded.names[j] = decodeEscapes(t.names[j])
			}
			return decoded
		}
	}
	return t
}

// decodeEscapes decodes what looks like an escape in a text, and leaves the rest.
func decodeEscapes(text string) string {
	decoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				decoded = append(decoded, b[0])
				i += 2
				continue
			}
		}
		decoded = append(decoded, text[i])
	}
	return string(decoded)
}
