package store_test

import (
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// world is a storetest.World with methods of this package's tests.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

func newWorldWith(t *testing.T, options cosmostest.Options) *world {
	return &world{storetest.NewWith(t, options)}
}

// same compares two users, except for the time at which they were read.
func same(a, b *blog.User) bool {
	x, y := *a, *b
	x.ReadAt, y.ReadAt = time.Time{}, time.Time{}
	return x == y
}

// another returns a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

// on returns the same world for a subtest.
func (w *world) on(t *testing.T) *world { return &world{w.World.On(t)} }
