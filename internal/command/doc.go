// Package command is the command line: one file a command, and what the commands share. A command checks its settings,
// opens the database that they name, does its work until its context ends, and gives everything back.
//
// The database is one of three (database.go): an account of Cosmos DB; the embedded engine of a data folder that this
// process owns; or the engine of the process that owns the folder, through a socket in it (datafolder.go, socket.go).
package command
