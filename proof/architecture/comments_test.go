package architecture

import "testing"

func TestPackageComments(t *testing.T) {
	for name, p := range packages(t) {
		hasComment := len(p.files) == 0
		for _, f := range p.files {
			hasComment = hasComment || f.syntax.Doc != nil
		}
		if !hasComment {
			t.Errorf("%s has no package comment", name)
		}
	}
}
