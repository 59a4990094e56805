package storetest

import (
	"testing"

	"cosmosblog/internal/engine"
)

// OpenEngine opens an engine. At the end of the test, it checks the engine's consistency and closes
// the engine.
func OpenEngine(t testing.TB, options engine.Options) *engine.Engine {
	t.Helper()
	engine, err := engine.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Check(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}
