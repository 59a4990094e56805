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
