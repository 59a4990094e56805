package changefeed

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

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
	// Name is empty if no history of the database has ended. Otherwise, it consists of the time of
	// that end and a random text. Of two names, the greater one is of the later history.
	Name string
	// Reason says how the end of the one before was noticed, as a sentence without a capital or full
	// stop.
	Reason string
	// IsRebuilt reports that the views have no state of the history before: they were rebuilt since,
	// or there is none. Until then, a view may be ahead of its source.
	IsRebuilt bool

	etag azcore.ETag
}

// noHistoryEnded is the history of a database that never went back.
var noHistoryEnded = History{IsRebuilt: true}

// HasWholeFeeds reports whether the change feeds show all items. No document says that a restored
// feed shows the items that were restored.
func (h History) HasWholeFeeds() bool { return h.Name == "" }

// Began returns the time at which the history before ended, or zero.
func (h History) Began() time.Time {
	began, _, _ := strings.Cut(h.Name, historySeparator)
	return blog.DateTime(began).Time()
}

const historySeparator = "/" // between the time and the random text of a name

// following returns the history that begins at a time after h.
func (h History) following(now time.Time, reason string) History {
	if began := h.Began(); !now.After(began) {
		now = began.Add(time.Millisecond) // the clock of the database went back, too
	}
	return History{Name: string(blog.NewDateTime(now)) + historySeparator + rand.Text(), Reason: reason}
}

type historyItem struct {
	ID        string      `json:"id"`
	Type      string      `json:"type"`
	Name      string      `json:"name"`
	Reason    string      `json:"reason"`
	IsRebuilt bool        `json:"isRebuilt"`
	ETag      azcore.ETag `json:"_etag,omitempty"`
}

const typeHistory = "history" // also the id and the partition key of the only item

func (i historyItem) history() History {
	return History{Name: i.Name, Reason: i.Reason, IsRebuilt: i.IsRebuilt, etag: i.ETag}
}

func (h History) item() historyItem {
	return historyItem{ID: typeHistory, Type: typeHistory, Name: h.Name, Reason: h.Reason, IsRebuilt: h.IsRebuilt}
}

// History reads the present history: one point read.
func (f *Feeds) History(ctx context.Context) (History, error) {
	item, etag, err := cosmos.Read[historyItem](ctx, f.leases, typeHistory, typeHistory)
	if cosmos.IsNotFound(err) {
		return noHistoryEnded, nil
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
func (f *Feeds) EndHistory(ctx context.Context, name, reason string) (present History, err error) {
	ctx = cosmos.InSession(ctx)
	err = cosmos.RetryOnConflict(func() error {
		// The read may be old. The write then fails, and its answer makes the session current.
		if present, err = f.History(ctx); err != nil || present.Name != name {
			return err
		}
		next := present.following(f.db.Now(), reason)
		if present.etag == "" {
			next.etag, err = cosmos.Create(ctx, f.leases, typeHistory, next.item())
		} else {
			next.etag, err = cosmos.Replace(ctx, f.leases, typeHistory, typeHistory, next.item(), present.etag)
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
