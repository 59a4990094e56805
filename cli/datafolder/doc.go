// Package datafolder opens the database that a command works on. It is one of three:
//
//   - an account of Cosmos DB, reached over the network (account.go);
//   - the embedded engine of a data folder that this process owns (folder.go, engine.go);
//   - the embedded engine of a data folder that another process owns, reached through a socket in
//     the folder (owner.go, socket.go).
//
// A data folder has one owner at a time, the process that holds its lock. The owner serves the
// engine, backups and checks to the other processes.
//
// The errors of this package are sentences for the person who runs the command.
package datafolder
