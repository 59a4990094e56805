package command

import (
	"testing"

	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// openInMemory gives the database of an engine that this process owns.
func openInMemory(t *testing.T) *Database {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := store.OpenEmbedded(t.Context(), engine, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Database{Store: opened, Engine: engine}
}

// Commands of others, who use the folder through its owner, have as long as everywhere.
func TestViewsAreMadeWithTheDeadlineOfCommands(t *testing.T) {
	if d := settleOptions(openInMemory(t), Task{}).CommandDeadline; d != 0 {
		t.Errorf("the deadline is %v, not the projector's own", d)
	}
}
