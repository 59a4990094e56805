package store

import "context"

// Request is one request as it was sent to Cosmos DB, retries included. Metadata reads (account, container, ranges) are
// not among them.
type Request struct {
	Container     string
	Operation     string   // read, readMany, query, create, upsert, replace, patch, delete, batch or execute
	PartitionKeys []string // one; several with readMany alone
	Charge        float64  // RU
	Status        int      // HTTP; 0 where no answer came
}

// A Recorder is told of every request of a context. ctx is the one that the caller gave to the store. It is called
// concurrently where requests are.
type Recorder interface {
	Record(ctx context.Context, request Request)
}

// WithRecorder gives a context whose requests are recorded. The pipeline records them, not the caller.
func WithRecorder(ctx context.Context, recorder Recorder) context.Context { panic("not built yet") }
