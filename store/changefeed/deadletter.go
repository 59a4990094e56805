package changefeed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// DeadLetter is a change that could not be projected. It names the item, so that it can be projected again as it stands
// then.
type DeadLetter struct {
	Projection   string // the name of the one that failed; empty where the item could not be read
	Container    string
	PartitionKey string // empty where the item has none that is a text
	ItemID       string
	Reason       string // of the last time, its beginning
	Attempts     int    // to project the item, since the first time

	FirstDate, Date blog.DateTime // when it was set aside first and last

	ETag string // as it was read; another with every write
}

// ErrDeadLetterRenewed tells that a dead letter was written again since it was read.
var ErrDeadLetterRenewed = errors.New("changefeed: the dead letter was written again since it was read")

const (
	typeDeadLetter = "deadletter"

	deadLettersQuery = `SELECT * FROM c WHERE c.type = 'deadletter'`

	// maxReason is how many bytes of a reason are kept: an answer of the service may be long, and a letter must be taken.
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

// SetAside keeps a change in deadletters, with the present date. There is one dead letter for each item and projection: the
// last one's reason, with the attempts of all and the date of the first. Attempts says how many there were this time.
func (s *Feeds) SetAside(ctx context.Context, letter DeadLetter) error {
	letter.Date = blog.NewDateTime(s.db.Now())
	id := letter.id()
	return cosmos.RetryOnConflict(func() error {
		item := letter.item()
		current, etag, err := cosmos.Read[deadLetterItem](ctx, s.deadLetters, id, id)
		switch {
		case cosmos.IsNotFound(err):
			_, err = cosmos.Create(ctx, s.deadLetters, id, item)
		case err == nil:
			item.Attempts += current.Attempts
			item.FirstDate = current.FirstDate
			_, err = cosmos.Replace(ctx, s.deadLetters, id, id, item, etag)
		}
		return err
	})
}

// DeadLetters lists all dead letters, the one that was set aside first before the others.
func (s *Feeds) DeadLetters(ctx context.Context) ([]DeadLetter, error) {
	items, err := cosmos.QueryAcross[deadLetterItem](ctx, s.deadLetters, deadLettersQuery)
	letters := make([]DeadLetter, len(items))
	for i, item := range items {
		letters[i] = item.letter()
	}
	slices.SortFunc(letters, func(a, b DeadLetter) int {
		return cmp.Or(cmp.Compare(a.FirstDate, b.FirstDate), cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.Projection, b.Projection))
	})
	return letters, err
}

// DeleteDeadLetter deletes a dead letter as it was read. One that is gone is no error. Error: ErrDeadLetterRenewed where
// the item was set aside again meanwhile.
func (s *Feeds) DeleteDeadLetter(ctx context.Context, letter DeadLetter) error {
	err := cosmos.Delete(ctx, s.deadLetters, letter.id(), letter.id(), azcore.ETag(letter.ETag))
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case cosmos.IsRaceLost(err):
		return ErrDeadLetterRenewed
	}
	return err
}

// SetAsideItems reads what a dead letter names, as its change feed would show it now: one item, or none where it is gone. Of a
// letter without a partition key these are all items of the id that have none. Error: one that ConcernsItem where the letter, of
// another version of the program, names a container that there is not.
func (s *Feeds) SetAsideItems(ctx context.Context, letter DeadLetter) ([]Change, error) {
	if s.db.Container(letter.Container) == nil {
		return nil, blog.Errorf(blog.Internal, "There is no container %q.", letter.Container)
	}
	if letter.PartitionKey == "" {
		return s.homelessItems(ctx, letter)
	}
	change, err := s.Change(ctx, letter.Container, letter.PartitionKey, letter.ItemID)
	if cosmos.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []Change{change}, nil
}

func (s *Feeds) homelessItems(ctx context.Context, letter DeadLetter) ([]Change, error) {
	property := "c.postId"
	if letter.Container == schema.Users {
		property = "c.userId"
	}
	pager := s.db.Container(letter.Container).NewQueryItemsPager(
		`SELECT * FROM c WHERE c.id = @id AND (NOT IS_STRING(`+property+`) OR `+property+` = '')`, azcosmos.NewPartitionKey(),
		&azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: letter.ItemID}}})
	var changes []Change
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, cosmos.ToBlogError(err)
		}
		changes = append(changes, changesOf(letter.Container, page.Items)...)
	}
	return changes, nil
}

func (l DeadLetter) id() string {
	return blog.InputHash(l.Projection, l.Container, l.PartitionKey, l.ItemID)
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
		Reason: i.Reason, Attempts: i.Attempts, FirstDate: i.FirstDate, Date: i.Date, ETag: i.ETag}
}

// maxLettersCounted is how many dead letters are counted in one request.
const maxLettersCounted = 1000

// CountDeadLetters counts the dead letters, up to 1000: it is asked often, and nothing is wrong with most of these.
func (s *Feeds) CountDeadLetters(ctx context.Context) (int, error) {
	pager := s.deadLetters.NewQueryItemsPager(`SELECT c.id FROM c WHERE c.type = 'deadletter'`,
		azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{PageSizeHint: maxLettersCounted})
	n := 0
	for pager.More() && n < maxLettersCounted {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, cosmos.ToBlogError(err)
		}
		n += len(page.Items)
	}
	return min(n, maxLettersCounted), nil
}
