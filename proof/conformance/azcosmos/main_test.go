//go:build ci

package main

import (
	"errors"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		output string
		err    error
		ok     bool
	}{
		{"=== RUN   TestA\n--- PASS: TestA (0.01s)\nPASS\n", nil, true},
		{"=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS\n", nil, false},
		{"testing: warning: no tests to run\nPASS\n", nil, false},
		{"--- PASS: TestAll (0.01s)\nPASS\n", nil, false},
		{"=== RUN   TestA\n--- FAIL: TestA (0.01s)\nFAIL\n", errors.New("exit status 1"), false},
		{"--- PASS: TestA (0.01s)\npanic: afterwards\n", errors.New("exit status 2"), false},
	} {
		if err := verdict("TestA", []byte(c.output), c.err); (err == nil) != c.ok {
			t.Errorf("%q, %v: %v", c.output, c.err, err)
		}
	}
}

func TestNamesOfTests(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc TestMain() {}\nfunc TestB() {}\nfunc (s S) TestC() {}\nfunc helper() {}\nfunc TestA() {}\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := testsOf(file); !slices.Equal(got, []string{"TestB", "TestA"}) {
		t.Errorf("got %v", got)
	}
}

func TestObsoleteReasons(t *testing.T) {
	reasons := map[string]string{"TestA": "a reason", "TestGone": "another"}
	if err := obsolete(reasons, []string{"TestA", "TestGone", "TestB"}); err != nil {
		t.Error(err)
	}
	if err := obsolete(reasons, []string{"TestA", "TestB"}); err == nil || !strings.Contains(err.Error(), "TestGone") {
		t.Errorf("got %v", err)
	}
}

// TestReasons checks that azcosmos has every test that is skipped.
func TestReasons(t *testing.T) {
	names, err := suite{}.names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := obsolete(skippedTests(), names); err != nil {
		t.Error(err)
	}
}
