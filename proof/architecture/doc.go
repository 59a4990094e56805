// Package architecture checks the structure of the module: the imports between its packages,
// the use of third-party modules, package comments, the lengths of functions and comments,
// and that what must be listed in several places is listed in all of them. It consists of tests
// only.
package architecture
