package audit

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// look is one way of looking at subjects. What it remembers may be out of date by the time that it is used: the first look
// at everything is cheap by it, and what differs then is looked at by one that remembers nothing.
type look struct {
	*database
	cached *userCache // nil: users are read
	known  *hashSet   // authors and ids of posts that are there; nil: posts are read
}

// isFresh tells whether the look remembers nothing. Such a look also asks whether the projector has something to do yet.
func (l look) isFresh() bool { return l.cached == nil }

// at gives what drifts in a subject as it is now, or only seems to, because a projector is not done with it.
func (l look) at(ctx context.Context, s subject) ([]Drift, error) {
	switch s.container {
	case schema.Posts:
		return l.atPost(ctx, s.partition)
	case schema.Users:
		return l.atUser(ctx, s.partition)
	case schema.Usernames:
		return l.atReservation(ctx, s.partition)
	}
	return l.atFeed(ctx)
}

// partition reads the items of one partition, but for the texts. One that cannot be read is there as such.
func (s *database) partition(ctx context.Context, c *azcosmos.ContainerClient, partition, text string) ([]*auditedItem, error) {
	return auditedItems(ctx, c.NewQueryItemsPager(text, azcosmos.NewPartitionKeyString(partition), nil))
}

func auditedItems(ctx context.Context, pager cosmos.Pager) ([]*auditedItem, error) {
	var items []*auditedItem
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, cosmos.ToBlogError(err)
		}
		for _, text := range page.Items {
			items = append(items, newAuditedItem(text))
		}
	}
	return items, nil
}

func newAuditedItem(text []byte) *auditedItem {
	item := new(auditedItem)
	item.unreadable = json.Unmarshal(text, item) // goes on behind a property that it cannot read
	return item
}

// readAudited reads one item; nil where it is not there.
func (s *database) readAudited(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) (*auditedItem, error) {
	response, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err = cosmos.ToBlogError(err); err != nil {
		if cosmos.IsNotFound(err) {
			err = nil
		}
		return nil, err
	}
	return newAuditedItem(response.Value), nil
}

// unreadableDrift gives the drift of an item that cannot be read; false for one that can.
func (i *auditedItem) unreadableDrift(container, partition string) (Drift, bool) {
	if i.unreadable == nil {
		return Drift{}, false
	}
	return i.drift(DriftUnreadable, container, partition).says("", i.unreadable, ""), true
}

// unlessChanged makes sure that a source is as it was before its views were read. Otherwise what differs is not to be
// believed, and the drifts are without a state.
func (l look) unlessChanged(ctx context.Context, drifts []Drift, c *azcosmos.ContainerClient, partition, id string, before azcore.ETag) ([]Drift, error) {
	if len(drifts) == 0 {
		return nil, nil
	}
	now, err := l.readAudited(ctx, c, partition, id)
	if err != nil {
		return nil, err
	}
	if now == nil || now.ETag != before {
		for i := range drifts {
			drifts[i].source = ""
		}
	}
	return drifts, nil
}

// auditedUser is a user who may be unreadable: then only id and type are sure to be there.
type auditedUser struct {
	schema.UserItem
	unreadable error
}

// UnmarshalJSON reads what it can.
func (u *auditedUser) UnmarshalJSON(text []byte) error {
	u.unreadable = json.Unmarshal(text, &u.UserItem)
	return nil
}

// hasName tells whether a user bears or wants a normalized username, or may do so.
func (u *auditedUser) hasName(name string) bool {
	return u.unreadable != nil || blog.NormalizeUsername(u.Username) == name || blog.NormalizeUsername(u.PendingUsername) == name
}

// authors reads users by their ids. Those that are not there are nil.
func (l look) authors(ctx context.Context, ids []string) (map[string]*auditedUser, error) {
	users := make(map[string]*auditedUser, len(ids))
	var unknown []string
	for _, id := range ids {
		if _, ok := users[id]; ok {
			continue
		}
		user, ok := l.cached.get(id)
		if users[id] = user; !ok {
			unknown = append(unknown, id)
		}
	}
	read, err := cosmos.ReadEach[auditedUser](ctx, l.users, cosmos.IdentitiesByID(unknown))
	if err != nil {
		return nil, err
	}
	for i := range read {
		if read[i].Type == schema.TypeUser {
			users[read[i].ID] = &read[i]
		}
	}
	for _, id := range unknown {
		l.cached.put(id, users[id])
	}
	return users, nil
}
