// Package telemetry holds the log, the metrics, the traces and the readiness checks of a
// process. It does not depend on the kind of process: callers pass in metrics, checks, and the
// requests to the API and to the database. It has no global registry.
package telemetry
