// Package ownwrites checks that clients read what they have written: on one server without more,
// and on several with session tokens. It consists of tests only.
package ownwrites
