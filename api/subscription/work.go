package subscription

import (
	"bytes"
	"time"
)

// The processor time of an event, as shares count it (budget.Processor). It is computed from what
// was done, so that it does not depend on what else the machine does. `go run ./bench attack`
// compares it with what the server used (docs/benchmarks.md).
const (
	// eventTime is that of each subscription to which an event happens: it reads the event, and sends
	// an answer.
	eventTime = 30 * time.Microsecond
	// executionTime is that of executing a selection, without its fields.
	executionTime = 100 * time.Microsecond
	// fieldTime is that of a field that is collected or resolved: of nested objects, whose fields
	// gqlgen resolves one by one. Plain fields take less.
	fieldTime = 2 * time.Microsecond
	// kibibyteTime is that of a KiB that is read, encoded or sent.
	kibibyteTime = 4 * time.Microsecond
)

// executionWork returns the processor time of an execution of an operation with a number of fields
// as executed, whose answer has some data, and which has read some bytes of content.
func executionWork(fields int, data []byte, read int) time.Duration {
	resolved := bytes.Count(data, []byte(`":`)) // texts with it count, too
	return executionTime + time.Duration(fields+resolved)*fieldTime + bytesWork(len(data)+read)
}

// bytesWork returns the processor time of some bytes.
func bytesWork(n int) time.Duration { return time.Duration(n) * kibibyteTime / 1024 }
