// Package seed generates data sets with the proportions of Microsoft's article on modelling a
// blog, and writes them to a database. Two numbers, a seed and a number of users, determine a
// data set: it is the same on every machine and at any time. It is generated in pieces, and is
// never in memory as a whole.
package seed
