package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	platform := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "af1c8c5"}
	for _, c := range []struct {
		release string
		build   *debug.BuildInfo
		want    string
	}{
		{"", nil, "(devel)"},
		{"", built(""), "(devel)"},
		{"", built("v1.2.3"), "v1.2.3"},
		{"v2.0.0", built("v1.2.3"), "v2.0.0"},
		{"v2.0.0", built("", revision), "v2.0.0 af1c8c5"},
		{"", built("v1.2.3", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "v1.2.3 af1c8c5 (changed)"},
		{"", built("v1.2.3", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), "v1.2.3 af1c8c5"},
	} {
		if got := versionText(c.release, c.build); got != c.want+platform {
			t.Errorf("%q of %+v is %q, want %q", c.release, c.build, got, c.want+platform)
		}
	}
}
