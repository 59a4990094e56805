package changefeed

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
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
	// or there is none, or the views went back with their sources. Until then, a view may be ahead of
	// its source.
	IsRebuilt bool
	// Life is the engine.Life of the data folder, when EndHistoryKeepingLeases last noted one.
	Life string

	// leasesSince is the name of the first history whose leases are valid in this one: those of later
	// ones are, too. Histories differ in it from Name if EndHistoryKeepingLeases began them.
	leasesSince string
	etag        azcore.ETag
}

// noHistoryEnded is the history of a database that never went back.
var noHistoryEnded = History{IsRebuilt: true}

// HasWholeFeeds reports whether the change feeds certainly show all items. The feed of a restored
// container has only the changes after the restore (learn.microsoft.com/azure/cosmos-db/
// restore-in-account-continuous-backup-introduction). The feeds of a data folder show all, also
// where HasWholeFeeds is false.
func (h History) HasWholeFeeds() bool { return h.leasesSince == "" }

// keepsLeasesOf reports whether leases of another history are valid in this one, or in a later one.
func (h History) keepsLeasesOf(name string) bool { return name >= h.leasesSince }

// Began returns the time at which the history before ended, or zero.
func (h History) Began() time.Time {
	began, _, _ := strings.Cut(h.Name, historySeparator)
	return blog.DateTime(began).Time()
}

const historySeparator = "/" // between the time and the random text of a name

// following returns the history that begins at a time after h. No lease is valid in it.
func (h History) following(now time.Time, reason string) History {
	if began := h.Began(); !now.After(began) {
		now = began.Add(time.Millisecond) // the clock of the database went back, too
	}
	name := string(blog.NewDateTime(now)) + historySeparator + rand.Text()
	return History{Name: name, Reason: reason, Life: h.Life, leasesSince: name, etag: h.etag}
}

type historyItem struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	historyFields
	ETag azcore.ETag `json:"_etag,omitempty"`
}

// historyFields are the properties of the item that those of leases do not have.
type historyFields struct {
	Name        string `json:"name,omitempty"`
	Reason      string `json:"reason,omitempty"`
	IsRebuilt   bool   `json:"isRebuilt,omitempty"`
	LeasesSince string `json:"leasesSince,omitempty"`
	Life        string `json:"life,omitempty"`
}

const typeHistory = "history" // also the id and the partition key of the only item

func (f historyFields) history(etag azcore.ETag) History {
	return History{Name: f.Name, Reason: f.Reason, IsRebuilt: f.IsRebuilt, leasesSince: f.LeasesSince, Life: f.Life, etag: etag}
}

func (h History) item() historyItem {
	fields := historyFields{Name: h.Name, Reason: h.Reason, IsRebuilt: h.IsRebuilt, LeasesSince: h.leasesSince, Life: h.Life}
	return historyItem{ID: typeHistory, Type: typeHistory, historyFields: fields}
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
	return item.history(etag), nil
}

// EndHistory ends the history of a given name, and returns the one that begins, in which no lease
// is valid and the views are to be rebuilt. If another process has ended it already, EndHistory
// returns the present one. So of several that notice the same end, one ends the history, and none
// ends the next one.
func (f *Feeds) EndHistory(ctx context.Context, name, reason string) (History, error) {
	ctx = cosmos.InSession(ctx)
	next := func(present History) (History, bool) {
		return present.following(f.db.Now(), reason), present.Name == name
	}
	present, err := f.endHistory(ctx, next)
	if err != nil || present.Name >= name {
		return present, err
	}
	// A replica that lags has answered.
	if err := cosmos.AdvanceSession(ctx, f.leases, typeHistory, typeHistory); err != nil {
		return History{}, err
	}
	return f.endHistory(ctx, next)
}

// EndHistoryKeepingLeases ends the present history of a database whose containers went back to one
// moment, all together: the leases and the views went back with their sources, and stay valid.
// Only positions that are stored elsewhere do not. It stores life, which may be empty, and returns
// the history that begins. If life is that of the present history already, and not empty, it only
// returns that one. If life is empty, the former one stays. Several processes may call it at the
// same time, also while a projector works; of those with the same life, one ends the history.
func (f *Feeds) EndHistoryKeepingLeases(ctx context.Context, life, reason string) (History, error) {
	return f.endHistory(ctx, func(present History) (History, bool) {
		next := present.following(f.db.Now(), reason)
		next.IsRebuilt, next.leasesSince = present.IsRebuilt, present.leasesSince
		next.Life = cmp.Or(life, present.Life)
		return next, life == "" || present.Life != life
	})
}

// endHistory replaces the present history by the one that next returns, if next returns true. It
// returns the one that is then present.
func (f *Feeds) endHistory(ctx context.Context, next func(present History) (History, bool)) (present History, err error) {
	ctx = cosmos.InSession(ctx)
	err = cosmos.RetryOnConflict(func() error {
		// The read may be old. The write then fails, and its answer makes the session current.
		if present, err = f.History(ctx); err != nil {
			return err
		}
		begun, ends := next(present)
		if !ends {
			return nil
		}
		if present.etag == "" {
			begun.etag, err = cosmos.Create(ctx, f.leases, typeHistory, begun.item())
		} else {
			begun.etag, err = cosmos.Replace(ctx, f.leases, typeHistory, typeHistory, begun.item(), present.etag)
		}
		if err == nil {
			present = begun
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
