package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the name of the release. .ci/release and the Dockerfile set it at link time. If it
// is empty, the version is the one in Go's build information, from the repository's tags.
var version string

// versionText returns what --version prints after the program's name: version, commit if known,
// and Go version and platform of the build.
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

// buildInfo returns Go's build information, nil if there is none.
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
