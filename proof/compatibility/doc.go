// Package compatibility writes the tables of docs/compatibility.md from claims.txt, and fails if a
// claim about the service has no source. It consists of tests only.
package compatibility
