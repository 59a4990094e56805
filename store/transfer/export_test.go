package transfer

// The package's tests use these.

type (
	StoredItem = storedItem
	StoredHead = storedHead
)

var (
	CopiedContainers = copiedContainers
	ReadStored       = readStored
	StoredItems      = storedItems
)

// Text returns the item as JSON.
func (i StoredItem) Text() ([]byte, error) { return i.text() }
