// Package architecture checks the structure of the module: the imports between its packages,
// the use of third-party modules, package comments and the lengths of functions. It consists of
// tests only.
package architecture
