package engine

import (
	"strconv"

	"cosmosblog/engine/value"
)

// throughput is the provisioned throughput of a container or database in RU/s, either manual or
// autoscaled up to a maximum. The engine stores and returns it, but does not throttle by it.
type throughput struct {
	manual    int         // 0 with autoscale
	maximum   int         // of autoscale; 0 if manual
	autoscale value.Value // all settings as received
}

const (
	minThroughput      = 400  // of a container, manual
	minAutoscale       = 1000 // the lowest maximum of autoscale
	maxThroughput      = 1e6  // of a container
	throughputPerRange = 10e3 // of one physical range
	throughputStep     = 100  // of a manual throughput; ten times as much for autoscale
)

// limit returns the highest throughput that the resource can use.
func (t throughput) limit() int { return max(t.manual, t.maximum) }

// current returns the throughput that is provisioned: with autoscale, a tenth of the maximum until
// it scales, which the engine does not do (learn.microsoft.com/azure/cosmos-db/
// provision-throughput-autoscale; dotnet-v3, EmulatorTests/CosmosThroughputTests.cs).
func (t throughput) current() int {
	if t.maximum != 0 {
		return t.maximum / 10
	}
	return t.manual
}

// ranges returns the number of physical ranges that the throughput requires.
func (t throughput) ranges() int {
	return max(1, (t.limit()+throughputPerRange-1)/throughputPerRange)
}

// throughput reads the throughput from the headers of a create request. It returns zero if there
// is none. Error: 400.
func (r *request) throughput() (t throughput, err error) {
	manual, autoscale := r.Header.Get("X-Ms-Offer-Throughput"), r.Header.Get("X-Ms-Cosmos-Offer-Autopilot-Settings")
	switch {
	case manual != "" && autoscale != "":
		return t, badRequest("A throughput can be manual or autoscaled, not both.")
	case manual != "":
		n, err := strconv.Atoi(manual)
		t = throughput{manual: n}
		if err != nil {
			t.manual = -1
		}
		return t, t.check()
	case autoscale != "":
		settings, err := value.Parse([]byte(autoscale))
		if err != nil {
			return t, badRequest("The autoscale settings are not JSON: %v.", err)
		}
		t = autoscaled(settings)
		return t, t.check()
	}
	return t, nil
}

func autoscaled(settings value.Value) throughput {
	return throughput{maximum: wholeNumber(settings.Get("maxThroughput")), autoscale: settings}
}

// wholeNumber returns v as an int, or -1 if v is not an integer.
func wholeNumber(v value.Value) int {
	if n, ok := v.AsNumber(); ok && n == float64(int(n)) {
		return int(n)
	}
	return -1
}

func (t throughput) check() error {
	if t.maximum != 0 {
		if t.maximum < minAutoscale || t.maximum > maxThroughput || t.maximum%(10*throughputStep) != 0 {
			return badRequest("The maximum of autoscale must be from %d to %d RU/s, in steps of %d.", minAutoscale, int(maxThroughput), 10*throughputStep)
		}
		return nil
	}
	if t.manual < minThroughput || t.manual > maxThroughput || t.manual%throughputStep != 0 {
		return badRequest("The throughput must be from %d to %d RU/s, in steps of %d.", minThroughput, int(maxThroughput), throughputStep)
	}
	return nil
}
