// Package architecture checks the structure of the module: the imports between its packages,
// the use of third-party modules, package comments, and the sizes of packages, functions and
// comments. It consists of tests only.
package architecture
