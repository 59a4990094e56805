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
	fallback   throughput            // of the containers that are not in containers
	containers map[string]throughput // of single containers, by name
	shared     bool                  // fallback is the database's, for containers to share
}

// The service's limits, in RU/s ("Azure Cosmos DB service quotas").
const (
	minManual     = 400
	minAutoscale  = 1000
	maxRUs        = 1_000_000
	manualStep    = 100
	autoscaleStep = 1000
)

// ParseThroughputs parses "serverless", "autoscale:1000" or "manual:400". The last two may be
// followed by exceptions for single containers, as in "manual:400,posts=autoscale:4000".
// Exceptions may also stand alone. If shared is true, the database has the throughput, and its
// containers share it. Errors: sentences for the user.
func ParseThroughputs(text string, shared bool) (Throughputs, error) {
	t := Throughputs{shared: shared}
	if text == "" {
		if shared {
			return t, fmt.Errorf("the throughput that the containers share is missing: write, for example, autoscale:1000")
		}
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
			if err := t.setContainer(name, parsed); err != nil {
				return t, err
			}
		}
	}
	return t, t.check()
}

// setContainer sets the throughput of a single container.
func (t *Throughputs) setContainer(name string, single throughput) error {
	if !slices.Contains(schema.ContainerNames(), name) {
		names := strings.Join(schema.ContainerNames(), ", ")
		return fmt.Errorf("there is no container %q: the containers are %s", name, names)
	}
	if _, ok := t.containers[name]; ok {
		return fmt.Errorf("the throughput of %s is given twice", name)
	}
	if t.containers == nil {
		t.containers = map[string]throughput{}
	}
	t.containers[name] = single
	return nil
}

func (t Throughputs) check() error {
	isServerless := t.fallback.kind == serverless
	for _, single := range t.containers {
		isServerless = isServerless || single.kind == serverless
	}
	switch {
	case isServerless && (t.shared || len(t.containers) > 0):
		return fmt.Errorf("serverless is a property of the whole account: " +
			"it cannot be shared, and containers cannot differ")
	case t.shared && t.fallback.kind == unspecified:
		return fmt.Errorf("the throughput that the other containers share is missing: " +
			"write it first, for example autoscale:1000")
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
	case t.shared:
		return t.fallback
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
	if t.shared {
		return throughput{kind: shared}
	}
	return t.fallback
}

// isSpecified reports whether any throughput is given.
func (t Throughputs) isSpecified() bool {
	return t.fallback.kind != unspecified || len(t.containers) > 0
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
