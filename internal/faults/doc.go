// Package faults makes a database fail, for tests of what stands on it: requests that are refused, by chance or for want
// of throughput, answers that get lost after the request was done, and replicas that lag behind.
package faults
