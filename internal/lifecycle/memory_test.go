package lifecycle

import (
	"os"
	"testing"
	"testing/fstest"
)

const gigabyte = 1 << 30

func TestCollectorSettings(t *testing.T) {
	machine := map[string]string{"proc/meminfo": "MemFree:  77 kB\nMemTotal:       8388608 kB\nMemAvailable: 78 kB\n"}
	for name, c := range map[string]struct {
		files       map[string]string
		environment map[string]string
		percent     int
		limit       int64
	}{
		"nothing is known": {},
		"a machine":        {machine, nil, 400, 8 * gigabyte / 100 * 50},
		"cgroup 2": {with(machine, "proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "1073741824\n"),
			nil, 400, gigabyte / 100 * 80},
		"cgroup 2 without a limit": {with(machine, "proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "max\n"),
			nil, 400, 8 * gigabyte / 100 * 50},
		"cgroup 2 in a container": {with(machine, "proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1073741824\n"),
			nil, 400, gigabyte / 100 * 80},
		"an outer cgroup": {with(machine, "proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "max\n",
			"sys/fs/cgroup/a/memory.max", "2147483648\n", "sys/fs/cgroup/a/memory.high", "1073741824\n"),
			nil, 400, gigabyte / 100 * 80},
		"cgroup 1": {with(machine, "proc/self/cgroup", "5:cpu:/x\n4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n"),
			nil, 400, gigabyte / 100 * 80},
		"cgroup 1 in a container": {with(machine, "proc/self/cgroup", "4:memory:/docker/1\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"), nil, 400, gigabyte / 100 * 80},
		"cgroup 1 without a limit": {with(machine, "proc/self/cgroup", "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), nil, 400, 8 * gigabyte / 100 * 50},
		"a cgroup larger than the machine": {with(machine, "proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1073741824000\n"),
			nil, 400, 8 * gigabyte / 100 * 50},
		"malformed files": {map[string]string{"proc/meminfo": "MemTotal: x kB\n", "proc/self/cgroup": "0::\n::\n\n0:",
			"sys/fs/cgroup/memory.max": "-1\n"}, nil, 0, 0},
		"a cgroup's path with dots": {with(machine, "proc/self/cgroup", "0::/../../a\n", "sys/fs/cgroup/a/memory.max", "1073741824\n"),
			nil, 400, gigabyte / 100 * 80},
		"GOGC":                       {machine, map[string]string{"GOGC": "50"}, 0, 8 * gigabyte / 100 * 50},
		"GOMEMLIMIT":                 {machine, map[string]string{"GOMEMLIMIT": "1GiB"}, 400, 0},
		"both":                       {machine, map[string]string{"GOGC": "off", "GOMEMLIMIT": "1GiB"}, 0, 0},
		"empty":                      {machine, map[string]string{"GOGC": "", "GOMEMLIMIT": ""}, 400, 8 * gigabyte / 100 * 50},
		"GOMEMLIMIT, unknown memory": {nil, map[string]string{"GOMEMLIMIT": "1GiB"}, 400, 0},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		lookup := func(name string) (string, bool) { value, ok := c.environment[name]; return value, ok }
		if percent, limit := collectorSettings(lookup, root); percent != c.percent || limit != c.limit {
			t.Errorf("%s: got %d%% and %d bytes, want %d%% and %d bytes", name, percent, limit, c.percent, c.limit)
		}
	}
}

// with returns a copy of files with more files, alternating paths and texts.
func with(files map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	for path, text := range files {
		all[path] = text
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// TestMemoryOfThisMachine reads the real files, if this is Linux.
func TestMemoryOfThisMachine(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		t.Skip("only Linux has /proc/meminfo")
	}
	if memory := memoryFor(os.DirFS("/")); memory < 64<<20 || memory > 1<<45 {
		t.Errorf("the program may use %d bytes", memory)
	}
}
