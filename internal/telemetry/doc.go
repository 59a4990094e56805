// Package telemetry is what a running process tells its operator: the log, for now.
package telemetry
