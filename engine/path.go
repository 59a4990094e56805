package engine

import (
	"strconv"
	"strings"
)

// parsePath returns the names in a path of an indexing policy or partition key definition, such as
// "/a/b". A name may be quoted; the suffix "/?" denotes the scalar itself. It accepts what earlier
// versions stored, also names that need quotes and have none: checkIndexingPath and its siblings
// decide what a new definition may contain. Error: 400, also for a path through an array.
func (d definition) parsePath(path string) ([]string, error) {
	trimmed := strings.TrimSuffix(path, "/?")
	s := pathScanner{text: trimmed}
	var names []string
	for s.at < len(trimmed) && trimmed[s.at] == '/' {
		s.at++
		name, ok := "", false
		if !d.splitsQuotes {
			name, ok = s.quoted()
		}
		if !ok {
			name = unquoted(s.until('/'))
		}
		if name == "" || !ok && strings.ContainsAny(name, "*[]") {
			return nil, badRequest("The path '%s' is not valid.", path)
		}
		names = append(names, name)
	}
	if len(names) == 0 || s.at < len(trimmed) {
		return nil, badRequest("The path '%s' is not valid.", path)
	}
	return names, nil
}

// unquoted returns a name without quotes around it.
func unquoted(name string) string {
	if n := len(name); n >= 2 && (name[0] == '"' || name[0] == '\'') && name[n-1] == name[0] {
		return name[1 : n-1]
	}
	return name
}

// pathScanner reads a path from its beginning.
type pathScanner struct {
	text string
	at   int
}

// skipSpace skips white space.
func (s *pathScanner) skipSpace() {
	s.at = len(s.text) - len(strings.TrimLeft(s.text[s.at:], " \t"))
}

// take skips a character if it is the next one.
func (s *pathScanner) take(c byte) bool {
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// ends reports whether nothing follows.
func (s *pathScanner) ends() bool { return s.at == len(s.text) }

// until skips the text before a character, or all of it, and returns it.
func (s *pathScanner) until(c byte) string {
	text, _, _ := strings.Cut(s.text[s.at:], string(c))
	s.at += len(text)
	return text
}

// quoted skips a name in quotes and returns it.
func (s *pathScanner) quoted() (string, bool) {
	if s.at == len(s.text) || s.text[s.at] != '"' && s.text[s.at] != '\'' {
		return "", false
	}
	quote := s.text[s.at]
	for rest, name := s.text[s.at+1:], []byte(nil); rest != ""; {
		if rest[0] == quote {
			s.at = len(s.text) - len(rest) + 1
			return string(name), true
		}
		c, _, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			return "", false
		}
		name, rest = append(name, string(c)...), tail
	}
	return "", false
}

// label skips a name, which needs quotes if it has other characters than letters, digits, _ and $.
func (s *pathScanner) label() bool {
	if name, ok := s.quoted(); ok {
		return name != ""
	}
	begin := s.at
	for s.at < len(s.text) && isLabel(s.text[s.at]) {
		s.at++
	}
	return s.at > begin
}

func isLabel(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// element skips the rest of "[]" or "[1]" after its bracket. It reports whether it is the former,
// which stands for all elements.
func (s *pathScanner) element() (all, ok bool) {
	begin := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	all = s.at == begin
	return all, s.take(']')
}

// tuple skips the rest of "{a/b, c}/?" after its brace. White space may stand around names.
func (s *pathScanner) tuple() bool {
	for {
		if s.skipSpace(); s.take('[') {
			if all, ok := s.element(); all || !ok {
				return false
			}
		} else if !s.label() {
			return false
		}
		s.skipSpace()
		switch {
		case s.take('/'), s.take(','):
		default:
			return s.take('}') && s.take('/') && s.take('?') && s.ends()
		}
	}
}

// checkIndexingPath checks an included, excluded or spatial path, which ends with "?" or "*". "/"
// is the root (dotnet-v3, EmulatorTests/SpatialTest.cs). Only included paths may be tuples
// (learn.microsoft.com/azure/cosmos-db/index-policy). Error: 400.
func checkIndexingPath(path string, tuples bool) error {
	s, arrays, inArray := &pathScanner{text: path}, 0, false
	for first := true; s.take('/'); first = false {
		switch {
		case first && s.ends():
			return nil
		case s.take('*'), !first && s.take('?'):
			if s.ends() {
				return nil
			}
			return errIndexingPath(s)
		case s.take('['):
			all, ok := s.element()
			if !ok {
				return errIndexingPath(s)
			}
			if inArray = all; all {
				arrays++
			}
		case tuples && inArray && arrays == 1 && s.take('{'):
			if s.tuple() {
				return nil
			}
			return errIndexingPath(s)
		case !s.label():
			return errIndexingPath(s)
		default:
			inArray = false
		}
	}
	return errIndexingPath(s)
}

// checkCompositePath checks a path of a composite index. It has no wildcard at its end, need not
// have a question mark, and may lead through an array ("/children/[]/age" in
// learn.microsoft.com/azure/cosmos-db/index-policy). Error: 400.
func checkCompositePath(path string) error {
	s := &pathScanner{text: path}
	for first := true; s.take('/'); first = false {
		switch {
		case !first && s.take('?'):
			if !s.ends() {
				return errIndexingPath(s)
			}
		case s.take('['):
			if _, ok := s.element(); !ok {
				return errIndexingPath(s)
			}
		case !s.label():
			return errIndexingPath(s)
		}
		if s.ends() {
			return nil
		}
	}
	return errIndexingPath(s)
}

// checkKeyPath checks the path of a partition key. Error: 400.
func checkKeyPath(path string) error {
	s := &pathScanner{text: path}
	for s.take('/') && s.label() {
		if s.ends() {
			return nil
		}
	}
	return errPathOf(s, "The partition key component definition path '%s' could not be accepted, failed near position '%d'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.")
}

// errIndexingPath is the service's answer to a path that it cannot read
// (jnhaffey/IdentityServer4.Contrib.CosmosDB#4).
func errIndexingPath(s *pathScanner) error {
	return errPathOf(s, "The indexing path '%s' could not be accepted, failed near position '%d'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.")
}

func errPathOf(s *pathScanner, format string) error {
	s.skipSpace() // "/a @" fails at 3 (Azure/cosmos-explorer, ErrorParserUtility.test.ts)
	return errDefinition(format, s.text, s.at)
}
