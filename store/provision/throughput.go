package provision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/schema"
)

// Throughput is the throughput of a database or container.
type Throughput struct {
	Kind ThroughputKind
	RUs  int32 // per second: fixed for Manual, maximum for Autoscale, otherwise 0
}

// ThroughputKind is the way in which an account provides request units.
type ThroughputKind int

// The kinds of throughput.
const (
	Unspecified ThroughputKind = iota // keeps throughputs; new resources get the default
	Manual                            // fixed RU/s
	Autoscale                         // between a tenth of the maximum and the maximum
	Serverless                        // billed by use; a property of the account
	shared                            // a container uses its database's throughput
	none                              // a database without throughput of its own
)

// Throughputs are the throughputs of a database's resources. The zero value changes nothing.
type Throughputs struct {
	Default    Throughput            // of the containers that are not in Containers
	Containers map[string]Throughput // of single containers, by name
	Shared     bool                  // Default is the database's, for containers to share
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
	t := Throughputs{Shared: shared}
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
			t.Default = parsed
		default:
			if err := t.setContainer(name, parsed); err != nil {
				return t, err
			}
		}
	}
	return t, t.check()
}

// setContainer sets the throughput of a single container.
func (t *Throughputs) setContainer(name string, throughput Throughput) error {
	if !slices.Contains(schema.ContainerNames(), name) {
		names := strings.Join(schema.ContainerNames(), ", ")
		return fmt.Errorf("there is no container %q: the containers are %s", name, names)
	}
	if _, ok := t.Containers[name]; ok {
		return fmt.Errorf("the throughput of %s is given twice", name)
	}
	if t.Containers == nil {
		t.Containers = map[string]Throughput{}
	}
	t.Containers[name] = throughput
	return nil
}

func (t Throughputs) check() error {
	serverless := t.Default.Kind == Serverless
	for _, single := range t.Containers {
		serverless = serverless || single.Kind == Serverless
	}
	switch {
	case serverless && (t.Shared || len(t.Containers) > 0):
		return fmt.Errorf("serverless is a property of the whole account: " +
			"it cannot be shared, and containers cannot differ")
	case t.Shared && t.Default.Kind == Unspecified:
		return fmt.Errorf("the throughput that the other containers share is missing: " +
			"write it first, for example autoscale:1000")
	}
	return nil
}

func parseThroughput(text string) (Throughput, error) {
	kind, number, _ := strings.Cut(text, ":")
	switch kind {
	case "serverless":
		if number == "" {
			return Throughput{Kind: Serverless}, nil
		}
	case "manual":
		return parseRUs(Manual, number, minManual, manualStep)
	case "autoscale":
		return parseRUs(Autoscale, number, minAutoscale, autoscaleStep)
	}
	return Throughput{}, fmt.Errorf("%q is not a throughput: write autoscale:1000, manual:400 or serverless", text)
}

func parseRUs(kind ThroughputKind, number string, minimum, step int) (Throughput, error) {
	n, err := strconv.Atoi(number)
	t := Throughput{kind, int32(n)}
	if err != nil || n < minimum || n > maxRUs || n%step != 0 {
		return t, fmt.Errorf("%q is not a valid number of RU/s for this kind of throughput: "+
			"it may be from %d to %d, in steps of %d", number, minimum, maxRUs, step)
	}
	return t, nil
}

// ofDatabase returns the throughput of the database itself.
func (t Throughputs) ofDatabase() Throughput {
	switch {
	case t.Shared:
		return t.Default
	case t.Default.Kind == Unspecified || t.Default.Kind == Serverless:
		return Throughput{}
	}
	return Throughput{Kind: none}
}

// ofContainer returns the throughput of a container.
func (t Throughputs) ofContainer(name string) Throughput {
	if single, ok := t.Containers[name]; ok {
		return single
	}
	if t.Shared {
		return Throughput{Kind: shared}
	}
	return t.Default
}

// isSpecified reports whether any throughput is given.
func (t Throughputs) isSpecified() bool {
	return t.Default.Kind != Unspecified || len(t.Containers) > 0
}

// properties returns the properties that azcosmos sends with a creation. It returns nil if the
// resource gets the account's default or has no throughput of its own.
func (t Throughput) properties() *azcosmos.ThroughputProperties {
	var p azcosmos.ThroughputProperties
	switch t.Kind {
	case Manual:
		p = azcosmos.NewManualThroughputProperties(t.RUs)
	case Autoscale:
		p = azcosmos.NewAutoscaleThroughputProperties(t.RUs)
	default:
		return nil
	}
	return &p
}

// throughputOf returns the throughput of a response. An autoscaled resource has a manual
// throughput in addition to its maximum.
func throughputOf(p *azcosmos.ThroughputProperties) Throughput {
	if n, ok := p.AutoscaleMaxThroughput(); ok {
		return Throughput{Autoscale, n}
	}
	n, _ := p.ManualThroughput()
	return Throughput{Manual, n}
}

// String returns the throughput as a text for users.
func (t Throughput) String() string {
	switch t.Kind {
	case Manual:
		return fmt.Sprintf("manual, %d RU/s", t.RUs)
	case Autoscale:
		return fmt.Sprintf("autoscale up to %d RU/s", t.RUs)
	case Serverless:
		return "serverless"
	case shared:
		return "shared, the database's"
	case none:
		return "none"
	}
	return "the account's default"
}
