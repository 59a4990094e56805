package audit

import (
	"context"
	"sync"

	"cosmosblog/store/cosmos"
)

// userCache caches users, including the ids of users who do not exist. It may be used concurrently.
// A nil cache is always empty.
type userCache struct {
	mu    sync.Mutex
	users map[string]*auditedUser
}

// maxCachedUsers is the maximum number of cached users, which take a few megabytes. A full cache
// is cleared.
const maxCachedUsers = 20_000

func newUserCache() *userCache { return &userCache{users: map[string]*auditedUser{}} }

func (c *userCache) get(id string) (*auditedUser, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	user, ok := c.users[id]
	return user, ok
}

func (c *userCache) put(id string, user *auditedUser) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.users) >= maxCachedUsers {
		clear(c.users)
	}
	c.users[id] = user
}

// readUsers returns users by their ids; nil for a user who does not exist.
func (c comparer) readUsers(ctx context.Context, ids []string) (map[string]*auditedUser, error) {
	users := make(map[string]*auditedUser, len(ids))
	var unknown []string
	for _, id := range ids {
		if _, ok := users[id]; ok {
			continue
		}
		user, ok := c.cachedUsers.get(id)
		if users[id] = user; !ok {
			unknown = append(unknown, id)
		}
	}
	read, err := cosmos.ReadEach[auditedUser](ctx, c.users, cosmos.OwnAddresses(unknown))
	if err != nil {
		return nil, err
	}
	for i := range read {
		users[read[i].ID] = &read[i]
	}
	for _, id := range unknown {
		c.cachedUsers.put(id, users[id])
	}
	return users, nil
}
