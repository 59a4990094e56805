// Package lifecycle starts the parts of a process in order and closes them in reverse order, and
// tunes the garbage collector to the memory that the process may use.
package lifecycle
