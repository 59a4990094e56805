package cosmos_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
)

// skewed returns a server whose clock differs from the database's, and the offsets of which its
// operator is warned.
func skewed(t *testing.T, skew time.Duration) (w *storetest.World, database *storetest.StillClock, warnings *[]time.Duration) {
	t.Helper()
	outer, warnings := storetest.New(t), new([]time.Duration)
	clock := storetest.NewStillClock(outer.Clock.Now().Add(skew))
	return outer.AnotherAt(clock, func(offset time.Duration) { *warnings = append(*warnings, offset) }), outer.Clock, warnings
}

// TestDatabaseClock checks the time of the database on servers whose clocks are wrong.
func TestDatabaseClock(t *testing.T) {
	for name, c := range map[string]struct{ skew, offset time.Duration }{
		"right":          {0, 0},
		"as far as told": {900 * time.Millisecond, 0},
		"an hour behind": {-time.Hour, time.Hour},
		"a year ahead":   {365 * 24 * time.Hour, time.Second - 365*24*time.Hour},
		"ahead":          {2 * time.Second, -time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w, database, warnings := skewed(t, c.skew)
			for range 3 {
				if got := w.DB.ClockOffset(); got != c.offset && c.offset >= 0 || got < c.offset-time.Second {
					t.Errorf("the offset is %v, want %v", got, c.offset)
				}
				now := database.Now()
				if got := w.DB.Now(); got.Sub(now).Abs() > time.Second {
					t.Errorf("the database's time is %v, want %v", got, now)
				}
				if got := w.DB.EarliestNow(); got.After(now) || now.Sub(got) > time.Second {
					t.Errorf("the database's earliest time is %v, want %v", got, now)
				}
				database.Advance(time.Hour)
				w.Clock.Advance(time.Hour)
			}
			if far := c.skew.Abs() > cosmos.MaxClockOffset; len(*warnings) > 1 || far != (len(*warnings) == 1) {
				t.Errorf("warned of %v", *warnings)
			}
		})
	}
}

// TestDatabaseClockAfterJumps lets the clock of the server jump ahead and back, and that of the
// database too. The next answer corrects the time.
func TestDatabaseClockAfterJumps(t *testing.T) {
	w, database, warnings := skewed(t, 0)
	year := 365 * 24 * time.Hour
	for i, jump := range []func(){
		func() { w.Clock.Advance(year) },
		func() { w.Clock.Advance(-year) },
		func() { database.Advance(time.Minute) }, // the server slept
	} {
		jump()
		w.AddUser("ada" + string(rune('a'+i)))
		if off := w.DB.Now().Sub(database.Now()); off.Abs() > time.Second {
			t.Errorf("after jump %d, the time is off by %v", i, off)
		}
	}
	if want := []time.Duration{time.Second - year, 0, time.Minute}; !slices.Equal(*warnings, want) {
		t.Errorf("warned of %v, want %v", *warnings, want)
	}
}

// TestDatabaseClockIsNarrowed sends requests that take a random time, at random times. The
// database's true time is always within the bounds, which come close.
func TestDatabaseClockIsNarrowed(t *testing.T) {
	w, database, _ := skewed(t, 25*time.Minute)
	random := rand.New(rand.NewPCG(1, 1))
	pass := func(most time.Duration) {
		d := time.Duration(random.Int64N(int64(most)))
		database.Advance(d)
		w.Clock.Advance(d)
	}
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		pass(20 * time.Millisecond)
		defer pass(20 * time.Millisecond)
		return next.Do(request)
	})
	for i := range 300 {
		_, _ = w.User(t.Context(), "nobody")
		pass(3 * time.Second)
		now, most := database.Now(), 1040*time.Millisecond
		if i > 250 {
			most = 100 * time.Millisecond
		}
		if early := now.Sub(w.DB.EarliestNow()); early < 0 || early > most {
			t.Fatalf("after %d answers, the earliest time is %v before the true one", i, early)
		}
		if off := w.DB.Now().Sub(now); off.Abs() > most {
			t.Fatalf("after %d answers, the time is off by %v", i, off)
		}
	}
}
