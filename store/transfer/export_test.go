package transfer

// This file exports what the package's tests use.

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
