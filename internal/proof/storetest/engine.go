package storetest

import (
	"testing"

	"cosmosblog/store/embedded"
)

// OpenEngine opens an engine. At the end of the test, it checks the engine's consistency and closes
// the engine.
func OpenEngine(t testing.TB, options embedded.Options) *embedded.Engine {
	t.Helper()
	engine, err := embedded.Open(options)
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
