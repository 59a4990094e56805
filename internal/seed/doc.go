// Package seed makes data sets of the article's shape, and writes them into a database. A data set is told by two
// numbers, and is the same wherever and whenever it is made; it is made piece by piece, and never is in memory as a
// whole.
package seed
