// Package proof has no code. Its folder holds what proves the product and is not a part of it:
// harnesses and faults of tests, conformance, chaos, costs, and the rules of the architecture.
//
// This folder is not for other modules: it may change in any version.
package proof
