package architecture

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// maxFunctionLines is the maximum number of lines of a function, including tests.
const maxFunctionLines = 79

func TestFunctionLengths(t *testing.T) {
	forEachFile(t, func(f *goFile) {
		for _, declaration := range f.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := f.line(function.End()) - f.line(function.Pos()) + 1; lines > maxFunctionLines {
				t.Errorf("%s:%d: %s has %d lines, more than %d",
					f.path, f.line(function.Pos()), function.Name.Name, lines, maxFunctionLines)
			}
		}
	})
}

// maxCommentColumns is the maximum length of a comment line in characters. An indentation tab
// counts as one. Comments at the end of a line of code may be longer.
const maxCommentColumns = 100

func TestCommentLengths(t *testing.T) {
	forEachFile(t, func(f *goFile) {
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				indentation := f.positions.Position(comment.Pos()).Column - 1
				if strings.HasPrefix(comment.Text, "//go:") || f.hasCodeBefore(comment) {
					continue
				}
				for i, text := range strings.Split(comment.Text, "\n") {
					if i > 0 {
						indentation = 0
					}
					if columns := indentation + len([]rune(text)); columns > maxCommentColumns {
						t.Errorf("%s:%d: a comment line has %d characters, more than %d",
							f.path, f.line(comment.Pos())+i, columns, maxCommentColumns)
					}
				}
			}
		}
	})
}

// forEachFile calls do for each file that is not generated, including tests.
func forEachFile(t *testing.T, do func(*goFile)) {
	t.Helper()
	for _, p := range packages(t) {
		for _, f := range slices.Concat(p.files, p.tests) {
			if !f.isGenerated {
				do(f)
			}
		}
	}
}

// hasCodeBefore reports whether a comment follows code in its line.
func (f *goFile) hasCodeBefore(comment *ast.Comment) bool {
	position := f.positions.Position(comment.Pos())
	line := f.source[position.Offset-(position.Column-1) : position.Offset]
	return strings.Trim(string(line), " \t") != ""
}
