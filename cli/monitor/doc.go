// Package monitor connects a process to package telemetry. It determines the process's metrics,
// its readiness, and the requests that are counted and traced. Every process reports the lag of
// all feed ranges, including those that other processes project.
package monitor
