// Package cli implements the command line, with one file for each command. A command checks
// its settings, opens the database that they name, works until it is done or its context ends,
// and closes everything.
//
// The other files are shared: command.go (the command line and its tasks), flags.go (flags and
// environment), progress.go (progress bars and lines), catchup.go (waiting until all views are
// up to date), table.go (rows of tables) and version.go.
//
// This folder is not for other modules: it may change in any version.
package cli
