package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what a release is called. .ci/release and the Dockerfile set it at link time; otherwise Go's build tells it,
// which takes it from the repository's tags.
var version string

// versionText is what --version prints behind the program's name: the version, the commit where the build knows it, and
// what it was built with and for.
func versionText(release string, build *debug.BuildInfo) string {
	name, commit := release, ""
	if build != nil {
		if name == "" {
			name = build.Main.Version
		}
		commit = commitOf(build)
	}
	if name == "" {
		name = "(devel)"
	}
	return fmt.Sprintf("%s%s %s %s/%s", name, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildInfo is what Go's build tells of this program, nil where it tells nothing.
func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

func commitOf(build *debug.BuildInfo) (commit string) {
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = " " + setting.Value + commit
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += " (changed)"
		}
	}
	return commit
}
