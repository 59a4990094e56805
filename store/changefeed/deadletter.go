package changefeed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// DeadLetter is a change that a projection could not process. It identifies the changed item but
// does not contain it: a retry projects the item as it is then.
type DeadLetter struct {
	Projection   string // the projection that failed; empty if the item could not be decoded
	Container    string
	PartitionKey string // empty if the item's partition key is not a string
	ItemID       string
	Reason       string // of the last failure, shortened
	Attempts     int    // to project the item, in total

	FirstDate, Date blog.DateTime // of the first and the last failure

	etag string // as read; every write changes it
}

// ErrDeadLetterChanged reports that a dead letter was written again after it was read.
var ErrDeadLetterChanged = errors.New("changefeed: the dead letter was written again since it was read")

const (
	typeDeadLetter = "deadletter"

	deadLettersQuery = `SELECT * FROM c WHERE c.type = 'deadletter'`

	// maxReason is the maximum length of a stored reason in bytes. An answer of the service can be
	// long, and the dead letter must fit into an item.
	maxReason = 2000
)

type deadLetterItem struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Projection   string        `json:"projection"`
	Container    string        `json:"container"`
	PartitionKey string        `json:"partitionKey"`
	ItemID       string        `json:"itemId"`
	Reason       string        `json:"reason"`
	Attempts     int           `json:"attempts"`
	FirstDate    blog.DateTime `json:"firstDate"`
	Date         blog.DateTime `json:"date"`
	ETag         string        `json:"_etag,omitempty"`
}

// WriteDeadLetter stores a dead letter with the current date. There is one dead letter for each
// item and projection. It keeps the last reason, the first date, and the sum of all attempts:
// letter.Attempts counts only those since the last call. Concurrent calls for one item are safe.
func (f *Feeds) WriteDeadLetter(ctx context.Context, letter DeadLetter) error {
	letter.Date = blog.NewDateTime(f.db.Now())
	id := letter.id()
	return cosmos.RetryOnConflict(func() error {
		item := letter.item()
		current, etag, err := cosmos.Read[deadLetterItem](ctx, f.deadLetters, id, id)
		switch {
		case cosmos.IsNotFound(err):
			_, err = cosmos.Create(ctx, f.deadLetters, id, item)
		case err == nil:
			item.Attempts += current.Attempts
			item.FirstDate = current.FirstDate
			_, err = cosmos.Replace(ctx, f.deadLetters, id, id, item, etag)
		}
		return err
	})
}

// DeadLetters reads all dead letters, ordered by FirstDate.
func (f *Feeds) DeadLetters(ctx context.Context) ([]DeadLetter, error) {
	items, err := cosmos.QueryAcross[deadLetterItem](ctx, f.deadLetters, deadLettersQuery)
	letters := make([]DeadLetter, len(items))
	for i, item := range items {
		letters[i] = item.letter()
	}
	slices.SortFunc(letters, func(a, b DeadLetter) int {
		return cmp.Or(cmp.Compare(a.FirstDate, b.FirstDate), cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.Projection, b.Projection))
	})
	return letters, err
}

// DeleteDeadLetter deletes a dead letter if it was not written since it was read. It returns nil
// if there is none. Error: ErrDeadLetterChanged.
func (f *Feeds) DeleteDeadLetter(ctx context.Context, letter DeadLetter) error {
	err := cosmos.Delete(ctx, f.deadLetters, letter.id(), letter.id(), azcore.ETag(letter.etag))
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case cosmos.IsRaceLost(err):
		return ErrDeadLetterChanged
	}
	return err
}

// DeadLetterChanges reads the item of a dead letter as its change feed would return it now. The
// result is empty if the item no longer exists. If the letter has no partition key, the result has
// every item with the id whose partition key is empty or not a string. If the letter's container
// does not exist, because another version of the program wrote the letter, the error is an item
// error (cosmos.IsItemError).
func (f *Feeds) DeadLetterChanges(ctx context.Context, letter DeadLetter) ([]Change, error) {
	if !slices.Contains(schema.ContainerNames(), letter.Container) {
		return nil, blog.Errorf(blog.Internal, "The dead letter names the container %q, which does not exist.", letter.Container)
	}
	if letter.PartitionKey == "" {
		return f.itemsWithoutPartitionKey(ctx, letter)
	}
	change, err := f.Change(ctx, letter.Container, letter.PartitionKey, letter.ItemID)
	if cosmos.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []Change{change}, nil
}

func (f *Feeds) itemsWithoutPartitionKey(ctx context.Context, letter DeadLetter) ([]Change, error) {
	property := "c.postId"
	if letter.Container == schema.Users {
		property = "c.userId"
	}
	items, err := cosmos.QueryAcross[json.RawMessage](ctx, f.db.Container(letter.Container),
		`SELECT * FROM c WHERE c.id = @id AND (NOT IS_STRING(`+property+`) OR `+property+` = '')`,
		azcosmos.QueryParameter{Name: "@id", Value: letter.ItemID})
	if err != nil {
		return nil, err
	}
	return changesOf(letter.Container, items), nil
}

func (l DeadLetter) id() string {
	return blog.Hash(l.Projection, l.Container, l.PartitionKey, l.ItemID)
}

func (l DeadLetter) item() deadLetterItem {
	reason := l.Reason
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	return deadLetterItem{ID: l.id(), Type: typeDeadLetter, Projection: l.Projection, Container: l.Container,
		PartitionKey: l.PartitionKey, ItemID: l.ItemID, Reason: reason, Attempts: l.Attempts, FirstDate: l.Date, Date: l.Date}
}

func (i deadLetterItem) letter() DeadLetter {
	return DeadLetter{Projection: i.Projection, Container: i.Container, PartitionKey: i.PartitionKey, ItemID: i.ItemID,
		Reason: i.Reason, Attempts: i.Attempts, FirstDate: i.FirstDate, Date: i.Date, etag: i.ETag}
}

// maxLettersCounted is the greatest number that CountDeadLetters returns, and its page size.
const maxLettersCounted = 1000

// CountDeadLetters counts the dead letters, up to 1000. It reads only their ids, because it is
// called often.
func (f *Feeds) CountDeadLetters(ctx context.Context) (int, error) {
	n := 0
	for page, err := range cosmos.Pages[json.RawMessage](ctx, f.deadLetters, azcosmos.NewPartitionKey(),
		`SELECT c.id FROM c WHERE c.type = 'deadletter'`, maxLettersCounted) {
		if err != nil {
			return 0, err
		}
		if n += len(page); n >= maxLettersCounted {
			break
		}
	}
	return min(n, maxLettersCounted), nil
}
