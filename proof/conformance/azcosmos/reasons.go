package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

const (
	hierarchical = "hierarchical partition keys are not supported"
	certificate  = "Entra ID: on this system, no environment variable makes a client trust the engine's certificate"
)

// skippedTests returns the tests that are not run, with the reasons.
func skippedTests() map[string]string {
	reasons := map[string]string{
		"TestContainerFullTextSearch":                   "full text search is not supported",
		"TestItemCRUDHierarchicalPartitionKey":          hierarchical,
		"TestHierarchicalPartitionQuerySinglePartition": hierarchical,
		"TestHierarchicalPartitionQueryParentPartition": hierarchical,
		"TestHierarchicalPartitionQueryNoPartition":     hierarchical,
		"TestItemIdEncodingRoutingGW":                   "unusual ids: the engine rejects ids that the service accepts but cannot address afterwards",
		"TestItemIdEncodingComputeGW":                   "needs a second gateway on port 8903",
		"TestGlobalEndpointManagerEmulator":             "several regions: expects the addresses and the consistency of the Windows emulator",
	}
	// On these systems, crypto/x509 uses the system's certificates instead of SSL_CERT_FILE.
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		reasons["TestAAD"] = certificate
		reasons["TestAAD_Emulator_UsesAccountScope_WhenNoAudienceProvided"] = certificate
	}
	return reasons
}

// obsolete returns an error if a reason refers to a test that does not exist.
func obsolete(reasons map[string]string, names []string) error {
	var gone []string
	for name := range reasons {
		if !slices.Contains(names, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	return fmt.Errorf("azcosmos no longer has these emulator tests; remove them from the skipped tests: %s", strings.Join(gone, ", "))
}
