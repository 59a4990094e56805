package audit

import "sync"

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
