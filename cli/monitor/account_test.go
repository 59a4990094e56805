package monitor

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
)

// TestAccountIsChanged changes an account while a process runs: it learns that within some minutes,
// is not ready, and logs the reason once.
func TestAccountIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, log := openBlog(t), &strings.Builder{}
		m := newMonitor(t.Context(), Options{DB: b.store.DB, Logger: slog.New(slog.NewTextHandler(log, nil))})
		check := func(want string) {
			t.Helper()
			time.Sleep(6 * time.Minute)
			for range 2 {
				if _, err := m.tryRead(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			for range 2 {
				_, err := m.checkAccount(t.Context())
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("the check says %v", err)
				}
			}
			values, err := m.accountMetric().Read()
			if err != nil || len(values) != 1 || (values[0].Value == 1) != (want != "") {
				t.Errorf("the metric is %v, %v", values, err)
			}
			if n := strings.Count(log.String(), "ERROR"); n != 1 && want != "" || n > 1 {
				t.Errorf("logged: %s", log)
			}
			log.Reset()
		}
		check("")
		b.engine.SetConsistency(cosmostest.Strong, false)
		check("")
		b.engine.SetConsistency(cosmostest.Eventual, false)
		check("its consistency level is Eventual")
		b.engine.SetConsistency(cosmostest.Session, true)
		check("it writes in several regions")
		b.engine.SetConsistency(cosmostest.Session, false)
		check("")
	})
}
