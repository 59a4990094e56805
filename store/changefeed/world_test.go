package changefeed_test

import (
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// world is a storetest.World with methods of this package's tests.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world {
	return &world{storetest.NewWith(t, cosmostest.Options{EtagsOfShownChanges: etagsOfShownChanges})}
}

// etagsOfShownChanges is the option of the account of newWorld.
var etagsOfShownChanges bool

// TestEtagsOfShownChanges runs tests under both behaviours of the etag of a page, because no
// document says which is the service's. On it, the position of a partition's feed moved with the
// writes of another partition, which that feed does not show (azure-cosmos-dotnet-v3, issue 2106).
// SDKs keep the etag of a 304, whichever it is: azcosmos 1.5.0 (ReadChangeFeed) and
// azure-cosmos-dotnet-v3, pull request 648.
func TestEtagsOfShownChanges(t *testing.T) {
	etagsOfShownChanges = true
	t.Cleanup(func() { etagsOfShownChanges = false })
	for name, test := range map[string]func(*testing.T){
		"changes": TestChanges, "replaced container": TestChangesOfAReplacedContainer, "position": TestPositionBeforeTheEnd,
		"lag": TestFeedLag, "split": TestChangeFeedAfterSplit, "history": TestEndHistoryKeepingLeases,
		"ends": TestHasChangeUpTo, "beyond the end": TestHasChangeUpToBeyondTheEnd,
	} {
		t.Run(name, test)
	}
}

// another returns a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

// on returns the same world for a subtest.
func (w *world) on(t *testing.T) *world { return &world{w.World.On(t)} }
