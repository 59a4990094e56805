package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxBucket is the greatest id of a throughput bucket. The least is 1.
const maxBucket = 5

func (c *Config) checkBackgroundBucket() error {
	if c.BackgroundBucket < 0 || c.BackgroundBucket > maxBucket {
		return fmt.Errorf("--background-bucket must be from 1 to %d, or 0 for no bucket, not %d", maxBucket, c.BackgroundBucket)
	}
	return nil
}

// Buckets returns the percentages of throughput buckets by their id. EngineBuckets has the form
// 1=20,2=50.
func (c *Config) Buckets() (map[int]float64, error) {
	buckets := map[int]float64{}
	if c.EngineBuckets == "" {
		return buckets, nil
	}
	for bucket := range strings.SplitSeq(c.EngineBuckets, ",") {
		id, percent, _ := strings.Cut(bucket, "=")
		n, idErr := strconv.Atoi(id)
		p, percentErr := strconv.Atoi(percent)
		if err := errors.Join(idErr, percentErr); err != nil || n < 1 || n > maxBucket || p < 1 || p > 100 || buckets[n] != 0 {
			return nil, fmt.Errorf("--throughput-buckets must be like 1=20,2=50, with each id from 1 to %d once "+
				"and each percentage from 1 to 100, not %q", maxBucket, c.EngineBuckets)
		}
		buckets[n] = float64(p)
	}
	return buckets, nil
}

func (c *Config) checkBuckets() error {
	if c.EngineBuckets != "" && c.EngineRU == 0 {
		return errors.New("--throughput-buckets needs --throughput, of which the percentages are")
	}
	_, err := c.Buckets()
	return err
}
