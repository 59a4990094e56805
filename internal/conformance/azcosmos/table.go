package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// table runs the tests that are wanted, prints a line for each, and the numbers at the end. Error: where any failed.
func (s suite) table(ctx context.Context, names []string, wanted *regexp.Regexp) error {
	var passed, failed, out int
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	reasons := leftOut()
	for _, name := range names {
		if !wanted.MatchString(name) {
			continue
		}
		if reason, ok := reasons[name]; ok {
			fmt.Printf("%-*s  left out  %s\n", width, name, reason)
			out++
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
	fmt.Printf("\n%d passed, %d failed, %d left out\n", passed, failed, out)
	if failed > 0 {
		return fmt.Errorf("%d of azcosmos's emulator tests failed", failed)
	}
	return nil
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
