package changefeed_test

import (
	"testing"

	"cosmosblog/internal/proof/storetest"
)

// world is a storetest.World with methods of this package's tests.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

// another returns a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

// on returns the same world for a subtest.
func (w *world) on(t *testing.T) *world { return &world{w.World.On(t)} }
