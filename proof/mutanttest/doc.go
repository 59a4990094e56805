// Package mutanttest plants deliberate mistakes in the sources, and checks that tests find them.
package mutanttest
