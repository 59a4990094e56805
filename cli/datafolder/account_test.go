package datafolder

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cosmosblog/cosmostest"
	"cosmosblog/engine"
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

// TestUnusableAccounts opens and provisions accounts on which the store would be wrong, and one
// with a stronger level than is needed.
func TestUnusableAccounts(t *testing.T) {
	for level, want := range map[cosmostest.Consistency]string{
		cosmostest.Eventual:         "its consistency level is Eventual, with which clients may miss what they have written: set the level Session",
		cosmostest.ConsistentPrefix: "its consistency level is ConsistentPrefix",
		cosmostest.Strong:           "",
	} {
		account := cosmostest.New(t, cosmostest.Options{Consistency: level})
		server := httptest.NewServer(account)
		t.Cleanup(server.Close)
		options := Options{Endpoint: server.URL, Key: account.Key(), Database: cosmos.DefaultDatabase, Logger: slog.New(slog.DiscardHandler)}
		check := func(err error) {
			t.Helper()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "the account at "+server.URL)) {
				t.Errorf("%s: %v", level, err)
			}
		}
		_, err := ProvisionAccount(t.Context(), options, provision.Options{})
		check(err)
		check(lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
			_, err := Open(r, options)
			return err
		}))
	}
}
