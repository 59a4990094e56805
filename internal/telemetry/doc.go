// Package telemetry is what a running process tells its operator: its log, its metrics, and whether it is ready. It knows
// nothing of what the process does: metrics and checks are handed in, and there is no registry but the one that a process
// makes.
package telemetry
