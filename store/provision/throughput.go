package provision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/schema"
)

// Throughput is how a database or a container gets its request units.
type Throughput struct {
	Kind ThroughputKind
	RUs  int32 // a second: of Manual, or the maximum of Autoscale; otherwise 0
}

// ThroughputKind is one of the ways in which an account gives request units.
type ThroughputKind int

const (
	Unsaid     ThroughputKind = iota // nothing is asked for: what is there stays, what is made gets the account's default
	Manual                           // so many at any time
	Autoscale                        // up to a maximum, and at least a tenth of it
	Serverless                       // as they are used: a property of the account
	shared                           // a container's, out of its database's throughput
	none                             // a database that has no throughput of its own
)

// Throughputs is what the resources of a database are given. The zero value asks for nothing.
type Throughputs struct {
	Each   Throughput            // of every container that is not in Of
	Of     map[string]Throughput // of single containers, by name
	Shared bool                  // Each is the database's, shared by the containers that are not in Of
}

// The service's limits, in RU/s ("Azure Cosmos DB service quotas").
const (
	leastManual    = 400
	leastAutoscale = 1000
	mostRUs        = 1_000_000
	manualStep     = 100
	autoscaleStep  = 1000
)

// ParseThroughputs reads "serverless", or "autoscale:1000" or "manual:400" followed by exceptions for single containers:
// "manual:400,posts=autoscale:4000". Exceptions may stand alone. Errors are sentences.
func ParseThroughputs(text string, shared bool) (Throughputs, error) {
	t := Throughputs{Shared: shared}
	if text == "" {
		if shared {
			return t, fmt.Errorf("which throughput do the containers share? Say it, for example autoscale:1000")
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
			return t, fmt.Errorf("%q does not say of which container: write posts=%s", part, part)
		case !single:
			t.Each = parsed
		default:
			if err := t.except(name, parsed); err != nil {
				return t, err
			}
		}
	}
	return t, t.check()
}

func (t *Throughputs) except(name string, throughput Throughput) error {
	if !slices.Contains(schema.ContainerNames(), name) {
		return fmt.Errorf("there is no container %q: they are %s", name, strings.Join(schema.ContainerNames(), ", "))
	}
	if _, twice := t.Of[name]; twice {
		return fmt.Errorf("the throughput of %s is said twice", name)
	}
	if t.Of == nil {
		t.Of = map[string]Throughput{}
	}
	t.Of[name] = throughput
	return nil
}

func (t Throughputs) check() error {
	serverless := t.Each.Kind == Serverless
	for _, single := range t.Of {
		serverless = serverless || single.Kind == Serverless
	}
	switch {
	case serverless && (t.Shared || len(t.Of) > 0):
		return fmt.Errorf("serverless is a property of the whole account: nothing is shared, and no container is an exception")
	case t.Shared && t.Each.Kind == Unsaid:
		return fmt.Errorf("which throughput do the other containers share? Say it first, for example autoscale:1000")
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
		return throughputIn(Manual, number, leastManual, manualStep)
	case "autoscale":
		return throughputIn(Autoscale, number, leastAutoscale, autoscaleStep)
	}
	return Throughput{}, fmt.Errorf("%q is no throughput: write autoscale:1000, manual:400 or serverless", text)
}

func throughputIn(kind ThroughputKind, number string, least, step int) (Throughput, error) {
	n, err := strconv.Atoi(number)
	t := Throughput{kind, int32(n)}
	if err != nil || n < least || n > mostRUs || n%step != 0 {
		return t, fmt.Errorf("%q is no number of RU/s for this kind of throughput: from %d to %d, in steps of %d", number, least, mostRUs, step)
	}
	return t, nil
}

// ofDatabase gives what the database itself is to have.
func (t Throughputs) ofDatabase() Throughput {
	switch {
	case t.Shared:
		return t.Each
	case t.Each.Kind == Unsaid || t.Each.Kind == Serverless:
		return Throughput{}
	}
	return Throughput{Kind: none}
}

// ofContainer gives what a container is to have.
func (t Throughputs) ofContainer(name string) Throughput {
	if single, ok := t.Of[name]; ok {
		return single
	}
	if t.Shared {
		return Throughput{Kind: shared}
	}
	return t.Each
}

// said tells whether anything is asked for.
func (t Throughputs) said() bool { return t.Each.Kind != Unsaid || len(t.Of) > 0 }

// properties gives what azcosmos sends with a creation: nothing where the resource gets none of its own, or the
// account's default.
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

// throughputOf reads what an account says of a resource. An autoscaled one has a manual number beside its maximum.
func throughputOf(p *azcosmos.ThroughputProperties) Throughput {
	if n, ok := p.AutoscaleMaxThroughput(); ok {
		return Throughput{Autoscale, n}
	}
	n, _ := p.ManualThroughput()
	return Throughput{Manual, n}
}

// String is for people.
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
		return "none of its own"
	}
	return "whatever the account gives"
}
