// Package failover checks that an account's failovers between regions lose no acknowledged write
// and double none. It consists of tests only.
package failover
