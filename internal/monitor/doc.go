// Package monitor connects a process to package telemetry: which metrics it publishes, when it is
// ready, and which of its requests are counted and traced. Every process reports the lag of all
// feed ranges, including those that other processes project.
package monitor
