package lifecycle

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// collectionPercent is GOGC: the garbage collector runs when the heap is five times as large as
	// what was live after its last run. Go's default of 100 runs it when the heap has doubled. Nearly
	// everything that a request allocates lives no longer than the request, so rare collections save
	// processor time. docs/operations.md has their price in memory.
	collectionPercent = 400

	// The parts of the memory that GOMEMLIMIT leaves to the program, in percent. Nearer to it, the
	// garbage collector runs more often. The rest is for memory that Go does not count, and on a
	// machine without a limit for other programs.
	cgroupPercent, machinePercent = 80, 50
)

// TuneCollector sets the garbage collector's percentage and a soft limit of the process's memory,
// unless lookup has the environment variables GOGC and GOMEMLIMIT. The limit depends on the
// memory limit of the cgroup, versions 1 and 2, and on the memory of the machine. Where Linux does
// not report them, TuneCollector leaves Go's defaults.
func TuneCollector(lookup func(name string) (string, bool)) {
	percent, limit := collectorSettings(lookup, os.DirFS("/"))
	if percent > 0 {
		debug.SetGCPercent(percent)
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// MemoryLimit returns the soft limit of the process's memory in bytes, math.MaxInt64 if it has
// none.
func MemoryLimit() int64 { return debug.SetMemoryLimit(-1) } // a negative limit changes nothing

// collectorSettings returns the percentage and the limit in bytes to set, 0 to leave one unchanged.
// root is the root of the file system.
func collectorSettings(lookup func(string) (string, bool), root fs.FS) (percent int, limit int64) {
	isSet := func(name string) bool {
		value, ok := lookup(name)
		return ok && value != ""
	}
	if !isSet("GOMEMLIMIT") {
		limit = memoryFor(root)
	}
	if !isSet("GOGC") && (limit > 0 || isSet("GOMEMLIMIT")) { // a large heap needs a limit
		percent = collectionPercent
	}
	return percent, limit
}

// memoryFor returns the memory in bytes that the program may use, 0 if it is unknown.
func memoryFor(root fs.FS) int64 {
	machine, cgroup := machineMemory(root), cgroupMemory(root)
	if machine == 0 && cgroup == math.MaxInt64 {
		return 0
	}
	if machine == 0 {
		machine = math.MaxInt64
	}
	return min(machine/100*machinePercent, cgroup/100*cgroupPercent)
}

// machineMemory returns the machine's memory in bytes (proc_meminfo(5)), 0 if it is unknown.
func machineMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "MemTotal: %d kB", &kilobytes); n == 1 && kilobytes > 0 {
			return kilobytes << 10
		}
	}
	return 0
}

// cgroupMemory returns the smallest memory limit in bytes of the process's cgroup and those around
// it (cgroups(7)), math.MaxInt64 if there is none. In a container, the cgroup's path may name a
// folder that only the host has. Its limit is then the one of the mounted root.
func cgroupMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(text)) {
		// Lines are "0::/path" in version 2, and "4:memory:/path" in version 1.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, names := "", []string(nil)
		switch {
		case parts[0] == "0" && parts[1] == "":
			mount, names = "sys/fs/cgroup", []string{"memory.max", "memory.high"}
		case parts[1] == "memory":
			mount, names = "sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}
		}
		for _, name := range names {
			least = min(least, leastLimit(root, mount, path.Clean("/"+parts[2]), name))
		}
	}
	return least
}

// leastLimit returns the smallest limit in the files of a name, from a cgroup up to its root.
func leastLimit(root fs.FS, mount, cgroup, name string) int64 {
	least := int64(math.MaxInt64)
	for {
		text, err := fs.ReadFile(root, path.Join(mount, cgroup, name))
		limit, malformed := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no number
		if err == nil && malformed == nil && limit > 0 {
			least = min(least, limit)
		}
		if cgroup == "/" {
			return least
		}
		cgroup = path.Dir(cgroup)
	}
}
