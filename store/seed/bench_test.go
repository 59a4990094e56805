package seed_test

import (
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/seed"
)

// BenchmarkWrite writes data sets of 50 users, on disk.
func BenchmarkWrite(b *testing.B) {
	engine := cosmostest.New(b, cosmostest.Options{Dir: b.TempDir()})
	s, err := provision.OpenEmbedded(b.Context(), engine, cosmos.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	items := 0
	for n := 0; b.Loop(); n++ {
		set := seed.New("bench", uint64(n), 50)
		_, size := set.Size()
		items += size
		if err := set.Write(b.Context(), s, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(items)/b.Elapsed().Seconds(), "items/s")
}
