package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

const (
	hierarchical = "hierarchical partition keys are not built"
	certificate  = "Entra: on this system a client cannot be told by its environment to trust the engine's certificate"
)

// leftOut gives the tests that are not run, each with its reason.
func leftOut() map[string]string {
	reasons := map[string]string{
		"TestContainerFullTextSearch":                   "full text search is not built",
		"TestItemCRUDHierarchicalPartitionKey":          hierarchical,
		"TestHierarchicalPartitionQuerySinglePartition": hierarchical,
		"TestHierarchicalPartitionQueryParentPartition": hierarchical,
		"TestHierarchicalPartitionQueryNoPartition":     hierarchical,
		"TestItemIdEncodingRoutingGW":                   "odd ids: the engine refuses at creation what the service creates and cannot address afterwards",
		"TestItemIdEncodingComputeGW":                   "a second gateway, on port 8903",
		"TestGlobalEndpointManagerEmulator":             "several regions: it expects the addresses and the consistency that the Windows emulator gives its region",
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" { // crypto/x509 asks the system there, not SSL_CERT_FILE
		reasons["TestAAD"] = certificate
		reasons["TestAAD_Emulator_UsesAccountScope_WhenNoAudienceProvided"] = certificate
	}
	return reasons
}

// stale tells of reasons for tests that do not exist.
func stale(reasons map[string]string, names []string) error {
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
	return fmt.Errorf("azcosmos has no such emulator test any more, take it off the list of what is left out: %s", strings.Join(gone, ", "))
}
