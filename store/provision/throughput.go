package provision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/schema"
)

// throughput is the throughput of a database or container.
type throughput struct {
	kind throughputKind
	rus  int32 // RU/s: fixed for manual, maximum for autoscale, otherwise 0
}

// throughputKind is the way in which an account provides request units.
type throughputKind int

// The kinds of throughput.
const (
	unspecified throughputKind = iota // existing resources keep theirs; new ones get the default
	manual                            // fixed RU/s
	autoscale                         // between a tenth of the maximum and the maximum
	serverless                        // billed by use; a property of the account
	shared                            // a container uses its database's throughput
	none                              // a database without throughput of its own
)

// Throughputs are the throughputs of a database's resources. The zero value changes nothing.
type Throughputs struct {
	database   throughput            // for the containers that are not in containers to share
	fallback   throughput            // of each such container, if they share none
	containers map[string]throughput // of single containers, by name
}

// databaseName is the name of the database's throughput, beside the names of containers.
const databaseName = "database"

// The service's limits, in RU/s ("Azure Cosmos DB service quotas").
const (
	minManual     = 400
	minAutoscale  = 1000
	maxRUs        = 1_000_000
	manualStep    = 100
	autoscaleStep = 1000
)

// ParseThroughputs parses the throughput of each container: "serverless", "autoscale:1000" or
// "manual:400". The last two may be followed by exceptions for single containers, as in
// "manual:400,posts=autoscale:4000". Exceptions may also stand alone. "database=autoscale:1000"
// is the database's, which its containers share, except those that are named. Errors: sentences for
// the user.
func ParseThroughputs(text string) (Throughputs, error) {
	var t Throughputs
	if text == "" {
		return t, nil
	}
	for i, part := range strings.Split(text, ",") {
		name, value, single := strings.Cut(part, "=")
		if !single {
			value = part
		}
		parsed, err := parseThroughput(value)
		switch {
		case err != nil:
			return t, err
		case !single && i > 0:
			return t, fmt.Errorf("%q names no container: write, for example, posts=%s", part, part)
		case !single:
			t.fallback = parsed
		default:
			if err := t.set(name, parsed); err != nil {
				return t, err
			}
		}
	}
	return t, t.check()
}

// set sets the throughput of a single container, or of the database.
func (t *Throughputs) set(name string, single throughput) error {
	if _, ok := t.containers[name]; ok || name == databaseName && t.isShared() {
		return fmt.Errorf("the throughput of %s is given twice", name)
	}
	if name == databaseName {
		t.database = single
		return nil
	}
	if !slices.Contains(schema.ContainerNames(), name) {
		names := strings.Join(schema.ContainerNames(), ", ")
		return fmt.Errorf("there is no container %q: the containers are %s", name, names)
	}
	if t.containers == nil {
		t.containers = map[string]throughput{}
	}
	t.containers[name] = single
	return nil
}

// isShared reports whether the database has a throughput for its containers.
func (t Throughputs) isShared() bool { return t.database.kind != unspecified }

func (t Throughputs) check() error {
	isServerless := t.fallback.kind == serverless || t.database.kind == serverless
	for _, single := range t.containers {
		isServerless = isServerless || single.kind == serverless
	}
	switch {
	case isServerless && (t.isShared() || len(t.containers) > 0):
		return fmt.Errorf("serverless is a property of the whole account: " +
			"it cannot be shared, and containers cannot differ")
	case t.isShared() && t.fallback.kind != unspecified:
		return fmt.Errorf("a throughput without a name is for each container, and one of the database is for all of them " +
			"to share: write only one of the two")
	}
	return nil
}

func parseThroughput(text string) (throughput, error) {
	kind, number, _ := strings.Cut(text, ":")
	switch kind {
	case "serverless":
		if number == "" {
			return throughput{kind: serverless}, nil
		}
	case "manual":
		return parseRUs(manual, number, minManual, manualStep)
	case "autoscale":
		return parseRUs(autoscale, number, minAutoscale, autoscaleStep)
	}
	return throughput{}, fmt.Errorf("%q is not a throughput: write autoscale:1000, manual:400 or serverless", text)
}

func parseRUs(kind throughputKind, number string, minimum, step int) (throughput, error) {
	n, err := strconv.Atoi(number)
	t := throughput{kind, int32(n)}
	if err != nil || n < minimum || n > maxRUs || n%step != 0 {
		return t, fmt.Errorf("%q is not a valid number of RU/s for this kind of throughput: "+
			"it may be from %d to %d, in steps of %d", number, minimum, maxRUs, step)
	}
	return t, nil
}

// ofDatabase returns the throughput of the database itself.
func (t Throughputs) ofDatabase() throughput {
	switch {
	case t.isShared():
		return t.database
	case t.fallback.kind == unspecified || t.fallback.kind == serverless:
		return throughput{}
	}
	return throughput{kind: none}
}

// ofContainer returns the throughput of a container.
func (t Throughputs) ofContainer(name string) throughput {
	if single, ok := t.containers[name]; ok {
		return single
	}
	if t.isShared() {
		return throughput{kind: shared}
	}
	return t.fallback
}

// isSpecified reports whether any throughput is given.
func (t Throughputs) isSpecified() bool {
	return t.fallback.kind != unspecified || t.isShared() || len(t.containers) > 0
}

// properties returns the properties that azcosmos sends with a creation. It returns nil if the
// resource gets the account's default or has no throughput of its own.
func (t throughput) properties() *azcosmos.ThroughputProperties {
	var p azcosmos.ThroughputProperties
	switch t.kind {
	case manual:
		p = azcosmos.NewManualThroughputProperties(t.rus)
	case autoscale:
		p = azcosmos.NewAutoscaleThroughputProperties(t.rus)
	default:
		return nil
	}
	return &p
}

// throughputOf returns the throughput of a response. An autoscaled resource has a manual
// throughput in addition to its maximum.
func throughputOf(p *azcosmos.ThroughputProperties) throughput {
	if n, ok := p.AutoscaleMaxThroughput(); ok {
		return throughput{autoscale, n}
	}
	n, _ := p.ManualThroughput()
	return throughput{manual, n}
}

// String returns the throughput as a text for users.
func (t throughput) String() string {
	switch t.kind {
	case manual:
		return fmt.Sprintf("manual, %d RU/s", t.rus)
	case autoscale:
		return fmt.Sprintf("autoscale up to %d RU/s", t.rus)
	case serverless:
		return "serverless"
	case shared:
		return "shared, the database's"
	case none:
		return "none"
	}
	return "the account's default"
}
