package config_test

import (
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
