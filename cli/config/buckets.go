package config

import "fmt"

// maxBucket is the greatest id of a throughput bucket. The least is 1.
const maxBucket = 5

func (c *Config) checkBackgroundBucket() error {
	if c.BackgroundBucket < 0 || c.BackgroundBucket > maxBucket {
		return fmt.Errorf("--background-bucket must be from 1 to %d, or 0 for no bucket, not %d", maxBucket, c.BackgroundBucket)
	}
	return nil
}
