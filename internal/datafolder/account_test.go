package datafolder

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/engine"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// TestWrongClockIsReported starts a process whose clock is an hour behind that of the account.
func TestWrongClockIsReported(t *testing.T) {
	engine, err := engine.Open(engine.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	account := httptest.NewServer(engine)
	defer account.Close()
	var log strings.Builder
	options := Options{
		Endpoint: account.URL,
		Key:      engine.Key(),
		Database: cosmos.DefaultDatabase,
		Logger:   slog.New(slog.NewTextHandler(&log, nil)),
	}
	err = lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
		_, err := Open(r, options)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN") ||
		!strings.Contains(text, "secondsToAdd=3600") && !strings.Contains(text, "secondsToAdd=3599") {
		t.Errorf("the log is %q", text)
	}
}
