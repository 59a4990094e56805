package projector

import (
	"testing"
	"time"

	"cosmosblog/store/cosmos"
)

// A projector's heartbeats and its listings of leases are a quarter of the expiry apart.
func TestPeriodsFollowTheExpiry(t *testing.T) {
	for expire, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Minute: 15 * time.Second} {
		o, err := Options{DB: new(cosmos.DB), Owner: "a test", Expire: expire}.withDefaults()
		if err != nil || o.Renew != want || o.Balance != want || o.Expire != 4*want {
			t.Errorf("heartbeats every %v and listings every %v, expiry after %v: %v", o.Renew, o.Balance, o.Expire, err)
		}
	}
}
