package config_test

import (
	"maps"
	"strings"
	"testing"

	"cosmosblog/cli/config"
)

func TestBackgroundBucket(t *testing.T) {
	for _, command := range []string{config.Serve, config.Projector, config.Seed, config.Audit, config.Rebuild, config.Copy} {
		for bucket, valid := range map[int]bool{-1: false, 0: true, 1: true, 5: true, 6: false} {
			c := config.Default(command)
			c.From, c.To = "from", "to"
			c.BackgroundBucket = bucket
			err := c.Check(command)
			if (err == nil) != valid || err != nil && !strings.Contains(err.Error(), "--background-bucket must be from 1 to 5") {
				t.Errorf("%s --background-bucket %d: %v", command, bucket, err)
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	for text, want := range map[string]map[int]float64{
		"":           {},
		"1=20":       {1: 20},
		"1=1,5=100":  {1: 1, 5: 100},
		"2=50,1=50":  {1: 50, 2: 50},
		"0=20":       nil,
		"6=20":       nil,
		"1=0":        nil,
		"1=101":      nil,
		"1=20,1=30":  nil,
		"1=20,":      nil,
		"1":          nil,
		"one=20":     nil,
		"1=20=30":    nil,
		"1=20, 2=50": nil,
	} {
		c := config.Default(config.Engine)
		c.EngineRU, c.EngineBuckets = 400, text
		err := c.Check(config.Engine)
		if (err == nil) != (want != nil) || err != nil && !strings.Contains(err.Error(), "--throughput-buckets must be like 1=20,2=50") {
			t.Errorf("%q: %v", text, err)
		}
		if got, _ := c.Buckets(); want != nil && !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	c := config.Default(config.Engine)
	c.EngineBuckets = "1=20"
	if err := c.Check(config.Engine); err == nil || !strings.Contains(err.Error(), "--throughput-buckets needs --throughput") {
		t.Errorf("without a throughput: %v", err)
	}
}
