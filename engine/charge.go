package engine

// The service does not publish formulas for its request charges. These coefficients reproduce
// its published points (1 KB read: 1 RU, 100 KB read: 10 RU, 1 KB write without indexes: 5 RU,
// 100 KB: 50 RU) and the table of Microsoft's article on modelling a blog. They are estimates;
// only the ratios between operations are reliable. 1 KB is 1024 bytes of an item's stored JSON,
// including system properties. A leaf is an indexed scalar value.
const (
	readBase       = 0.909
	readPerKB      = 0.0909
	readLeast      = 1.0
	queryBase      = 2.3   // per physical range visited
	queryPerItem   = 0.06  // per item loaded
	queryPerKB     = 0.174 // of the items loaded
	queryPerCount  = 0.153 // per item counted by an index-only count
	writeBase      = 4.55
	writePerKB     = 0.455
	writePerLeaf   = 0.45 // insert and delete: every leaf; replace: every changed leaf
	scriptBase     = 1.0  // a stored procedure or trigger, without its operations
	feedLeast      = 1.0  // any page of the change feed, even an empty one
	feedPerItem    = 0.06
	feedPerKB      = 0.174
	metadataCharge = 1.0 // reading a definition
	manageCharge   = 5.0 // writing a definition
)

func kilobytes(bytes int) float64 { return float64(bytes) / 1024 }

// readCharge is the charge of an item with the given size for a point read, for a read in a script,
// and for a patch whose condition does not hold.
func readCharge(bytes int) float64 { return max(readLeast, readBase+readPerKB*kilobytes(bytes)) }

// createCharge is the charge of inserting an item.
func createCharge(bytes, leaves int) float64 {
	return writeBase + writePerKB*kilobytes(bytes) + writePerLeaf*float64(leaves)
}

// replaceCharge is the charge of replacing or patching an item; changed is the number of changed
// leaves.
func replaceCharge(bytes, changed int) float64 { return createCharge(bytes, changed) }

// deleteCharge is the charge of deleting an item.
func deleteCharge(leaves int) float64 { return writeBase + writePerLeaf*float64(leaves) }

// queryCharge is the charge of a page of a query that visited some physical ranges and loaded
// some items.
func queryCharge(ranges, items, bytes int) float64 {
	return queryBase*float64(ranges) + queryPerItem*float64(items) + queryPerKB*kilobytes(bytes)
}

// countCharge is the charge of a count answered from an index.
func countCharge(ranges, counted int) float64 {
	return queryBase*float64(ranges) + queryPerCount*float64(counted)
}

// feedCharge is the charge of a page of the change feed.
func feedCharge(items, bytes int) float64 {
	return max(feedLeast, feedPerItem*float64(items)+feedPerKB*kilobytes(bytes))
}
