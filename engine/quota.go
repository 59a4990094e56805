package engine

import "fmt"

// withQuota adds to the answer of a container's read how much it may hold and holds, and how far
// its indexes are, if the request asks for it (dotnet-v3, EmulatorTests/HeadersValidationTests.cs,
// ValidateCollectionIndexProgressHeaders; the forms are in apache/openwhisk#4489). The service
// knows the sizes; the engine counts the items. Sizes are in KB, that of documentSize in MB.
func (r *request) withQuota(answer *response) error {
	if !r.headerIsTrue("X-Ms-Documentdb-Populatequotainfo") {
		return nil
	}
	count, size, kinds := 0, 0, map[string]int{}
	err := r.engine.each(containerKey(spaceItem, r.container.number), func(key, stored []byte) error {
		count++
		size += len(key) + len(stored)
		return r.Context().Err()
	})
	if err != nil {
		return err
	}
	for name := range r.container.scripts {
		kinds[name.kind]++
	}
	kilobytes := (size + 1<<10 - 1) >> 10
	const (
		amounts = "functions=%d;storedProcedures=%d;triggers=%d;documentSize=%d;documentsSize=%d;documentsCount=%d;collectionSize=%d;"
		most    = 10 << 20 // KB, of a partition of the service when the forms were recorded
	)
	answer.with("X-Ms-Resource-Quota", fmt.Sprintf(amounts, 25, maxProcedures, 25, most>>10, most, -1, most)).
		with("X-Ms-Resource-Usage", fmt.Sprintf(amounts, 0, kinds["sprocs"], kinds["triggers"], kilobytes>>10, kilobytes, count, kilobytes)).
		with("X-Ms-Documentdb-Collection-Index-Transformation-Progress", "100")
	return nil
}
