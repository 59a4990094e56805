package embedded

// The request charges of the service are not published as formulas. These coefficients reproduce its published points
// (1 KB read: 1 RU, 100 KB read: 10 RU, 1 KB write without indexes: 5 RU, 100 KB: 50 RU) and the table of Microsoft's
// article on modelling a blog. They are estimates; the ratios between operations are what can be relied on.
// 1 KB is 1024 bytes of an item's stored JSON, system properties included; a leaf is an indexed scalar value.
const (
	readBase       = 0.909
	readPerKB      = 0.0909
	readLeast      = 1.0
	queryBase      = 2.3   // each physical range that a query visits
	queryPerItem   = 0.06  // each item that a query loads
	queryPerKB     = 0.174 // of the items that a query loads
	queryPerCount  = 0.153 // each item that an index-only count counts
	writeBase      = 4.55
	writePerKB     = 0.455
	writePerLeaf   = 0.45 // insert and delete: every leaf; replace: every leaf that changed
	scriptBase     = 1.0  // a stored procedure or a trigger, besides its operations
	feedLeast      = 1.0  // a page of the change feed, also an empty one
	feedPerItem    = 0.06
	feedPerKB      = 0.174
	metadataCharge = 1.0 // reading a definition
	manageCharge   = 5.0 // writing a definition
)

func kilobytes(bytes int) float64 { return float64(bytes) / 1024 }

// readCharge is the price of a point read of an item of so many bytes.
func readCharge(bytes int) float64 { return max(readLeast, readBase+readPerKB*kilobytes(bytes)) }

// createCharge is the price of inserting an item.
func createCharge(bytes, leaves int) float64 {
	return writeBase + writePerKB*kilobytes(bytes) + writePerLeaf*float64(leaves)
}

// replaceCharge is the price of replacing or patching an item; changed counts the leaves that are not as they were.
func replaceCharge(bytes, changed int) float64 { return createCharge(bytes, changed) }

// deleteCharge is the price of deleting an item.
func deleteCharge(leaves int) float64 { return writeBase + writePerLeaf*float64(leaves) }

// queryCharge is the price of a page of a query over a number of physical ranges, for which it loaded items.
func queryCharge(ranges, items, bytes int) float64 {
	return queryBase*float64(ranges) + queryPerItem*float64(items) + queryPerKB*kilobytes(bytes)
}

// countCharge is the price of a count that the index answers.
func countCharge(ranges, counted int) float64 {
	return queryBase*float64(ranges) + queryPerCount*float64(counted)
}

// feedCharge is the price of a page of the change feed.
func feedCharge(items, bytes int) float64 {
	return max(feedLeast, feedPerItem*float64(items)+feedPerKB*kilobytes(bytes))
}
