// Package faultstest injects failures into a database. It is for tests only: rejected requests,
// throttling, lost responses, and replicas that lag.
package faultstest
