// Package telemetry is what a running process tells its operator: its log, its metrics, its traces, and whether it is ready.
// It knows nothing of what the process does: metrics and checks are handed in, and so are requests to the API and to the
// database. There is no registry but the one that a process makes.
package telemetry
