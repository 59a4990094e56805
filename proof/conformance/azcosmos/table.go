package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// table runs the wanted tests and prints a line for each, followed by the totals. It returns an
// error if a test fails.
func (s suite) table(ctx context.Context, names []string, wanted *regexp.Regexp) error {
	var passed, failed, skipped int
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	reasons := skippedTests()
	for _, name := range names {
		if !wanted.MatchString(name) {
			continue
		}
		if reason, ok := reasons[name]; ok {
			fmt.Printf("%-*s  skipped  %s\n", width, name, reason)
			skipped++
			continue
		}
		err := s.test(ctx, name)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err == nil {
			fmt.Printf("%-*s  passed\n", width, name)
			passed++
			continue
		}
		fmt.Printf("%-*s  FAILED\n%s\n", width, name, indented(err.Error()))
		failed++
	}
	fmt.Printf("\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return fmt.Errorf("%d of azcosmos's emulator tests failed", failed)
	}
	return nil
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
