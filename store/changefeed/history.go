package changefeed

import (
	"context"
	"crypto/rand"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

// History is the part of a database's past to which positions in its change feeds belong. It ends
// if the database goes back to an earlier state: an account or a container is restored, a failover
// loses the last writes, or a data folder is replaced by a backup. The numbers of the change feeds
// are then used again, for other changes, so a position of before says nothing any more. Whoever
// stores a position stores the name of the history with it, and begins again if the database has
// another one.
//
// The name is an item of the container leases. The service itself has none: a restored container
// keeps its name and its resource id (learn.microsoft.com/azure/cosmos-db/
// restore-in-account-continuous-backup-introduction), and continuations and session tokens contain
// nothing else that a restore must change. An embedded engine could say more, but the store treats
// both alike.
type History struct {
	Name  string        // random; empty if no history of the database has ended
	Began blog.DateTime // when the one before ended; empty if Name is
	// Reason says how the end of the one before was noticed, as a sentence without a capital or full
	// stop.
	Reason string
	// IsRebuilt reports that the views have no state of the history before: they were rebuilt, or the
	// whole database is of one moment. Until then, a view may be ahead of its source.
	IsRebuilt bool

	etag azcore.ETag
}

// HasWholeFeeds reports whether the change feeds show all items. No document says that a restored
// feed shows the items that were restored.
func (h History) HasWholeFeeds() bool { return h.Name == "" }

type historyItem struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Name      string        `json:"name"`
	Began     blog.DateTime `json:"began"`
	Reason    string        `json:"reason"`
	IsRebuilt bool          `json:"isRebuilt"`
	ETag      azcore.ETag   `json:"_etag,omitempty"`
}

const typeHistory = "history" // also the id and the partition key of the only item

func (i historyItem) history() History {
	return History{Name: i.Name, Began: i.Began, Reason: i.Reason, IsRebuilt: i.IsRebuilt, etag: i.ETag}
}

func (h History) item() historyItem {
	return historyItem{ID: typeHistory, Type: typeHistory, Name: h.Name, Began: h.Began, Reason: h.Reason, IsRebuilt: h.IsRebuilt}
}

// History reads the present history: one point read.
func (f *Feeds) History(ctx context.Context) (History, error) {
	item, etag, err := cosmos.Read[historyItem](ctx, f.leases, typeHistory, typeHistory)
	if cosmos.IsNotFound(err) {
		return History{IsRebuilt: true}, nil
	}
	if err != nil {
		return History{}, err
	}
	item.ETag = etag
	return item.history(), nil
}

// EndHistory ends the history of a given name, and returns the one that begins. If another process
// has ended it already, EndHistory returns the present one. So of several that notice the same end,
// one ends the history, and none ends the next one.
func (f *Feeds) EndHistory(ctx context.Context, name, reason string) (History, error) {
	next := History{Name: rand.Text(), Began: blog.NewDateTime(f.db.Now()), Reason: reason}
	return f.beginHistory(ctx, name, next)
}

// beginHistory begins a history instead of one with a given name.
func (f *Feeds) beginHistory(ctx context.Context, former string, next History) (present History, err error) {
	ctx = cosmos.InSession(ctx)
	err = cosmos.RetryOnConflict(func() error {
		// The read may be old. The write then fails, and its answer makes the session current.
		if present, err = f.History(ctx); err != nil || present.Name != former {
			return err
		}
		if present.etag == "" {
			_, err = cosmos.Create(ctx, f.leases, typeHistory, next.item())
		} else {
			_, err = cosmos.Replace(ctx, f.leases, typeHistory, typeHistory, next.item(), present.etag)
		}
		if err == nil {
			present = next
		}
		return err
	})
	return present, err
}

// NoteRebuilt notes that the views have no state of the history before a given one. It does nothing
// if that has ended.
func (f *Feeds) NoteRebuilt(ctx context.Context, name string) error {
	ctx = cosmos.InSession(ctx)
	return cosmos.RetryOnConflict(func() error {
		present, err := f.History(ctx)
		if err != nil || present.Name != name || present.IsRebuilt {
			return err
		}
		present.IsRebuilt = true
		_, err = cosmos.Replace(ctx, f.leases, typeHistory, typeHistory, present.item(), present.etag)
		return err
	})
}
