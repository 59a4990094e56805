package schema_test

import (
	"fmt"
	"testing"

	"cosmosblog/store/schema"
)

// PartitionKeyOf reads the property that is the partition key of each container.
func TestPartitionKeyOf(t *testing.T) {
	for _, c := range schema.Containers {
		path := c.Properties().PartitionKeyDefinition.Paths[0]
		item := fmt.Appendf(nil, `{%q: "the key"}`, path[1:])
		if key, err := schema.PartitionKeyOf(c.Name, item); err != nil || key != "the key" {
			t.Errorf("%s: %q, %v", c.Name, key, err)
		}
	}
}
