package transfer

// Exported for the package's tests.

type (
	StoredItem = storedItem
	StoredHead = storedHead
)

var (
	CopiedContainers = copiedContainers
	ReadStored       = readStored
	StoredItems      = storedItems[[]byte]
)

// Text returns the item as JSON.
func (i StoredItem) Text() ([]byte, error) { return i.text() }

// SmallPages returns options with pages of some changes.
func (o Options) SmallPages(changes int) Options {
	o.pageSize = changes
	return o
}
