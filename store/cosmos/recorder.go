package cosmos

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Request is one request sent to Cosmos DB, including retries. Reads of metadata (account,
// containers, feed ranges) are not recorded.
type Request struct {
	Container string
	// Operation is read, readMany, query, create, upsert, replace, patch, delete, batch, execute or
	// changeFeed.
	Operation     string
	PartitionKeys []string // several for readMany; none if all partitions are queried
	Charge        float64  // RU
	Status        int      // HTTP; 0 if there was no answer

	Begun time.Time // when it was sent, by the clock of this machine
	Retry bool      // an earlier try was rejected or not answered

	Background bool // sent as background work (InBackground)

	// Cached is true for a read that needed no request, because the program had the result. Only the
	// context's Recorder gets it.
	Cached bool
	// SavedCharge is the RU that reading the result of a cached read cost once. It is 0 for others.
	SavedCharge float64
}

// Recorder records every request of a DB or of a context, after its answer or failure.
// ctx is the caller's context, or derived from it. Record is called concurrently.
type Recorder interface {
	Record(ctx context.Context, request Request)
}

// WithRecorder returns a context whose requests are recorded. It replaces the Recorder of ctx.
func WithRecorder(ctx context.Context, recorder Recorder) context.Context {
	return withCall(ctx, func(c *call) { c.recorder = recorder })
}

// RecordCached records a read of partitions that needed no request, with the status that a request
// would have got. charge is the RU that reading the result cost once. It counts in the Meter.
func RecordCached(ctx context.Context, container, operation string, status int, charge float64, partitions ...string) {
	call := callOf(ctx)
	call.meter.addKept(charge)
	if call.recorder == nil {
		return
	}
	call.recorder.Record(ctx, Request{
		Container:     container,
		Operation:     operation,
		PartitionKeys: slices.Clone(partitions),
		Status:        status,
		Begun:         time.Now(),
		Cached:        true,
		SavedCharge:   charge,
	})
}

const chargeHeader = "X-Ms-Request-Charge"

// recorderPolicy adds to the Meter of the context, and calls the Recorders of the DB and of the
// context. The DB's Recorder does not get the partition keys, because they identify users and
// parsing them takes time.
type recorderPolicy struct{ own Recorder } // the DB's; nil if there is none

func (p recorderPolicy) Do(request *policy.Request) (*http.Response, error) {
	ctx := request.Raw().Context()
	call := callOf(ctx)
	recorder, meter := call.recorder, call.meter
	if recorder == nil && meter == nil && p.own == nil {
		return request.Next()
	}
	target, ok := TargetOf(request.Raw())
	if !ok {
		return request.Next()
	}
	record := Request{
		Container:  target.Container,
		Operation:  target.Operation,
		Begun:      time.Now(),
		Retry:      countTry(request) > 1,
		Background: call.background,
	}
	var keys []string
	if recorder != nil {
		keys = target.partitionKeys(request)
	}
	response, err := request.Next()
	if err == nil {
		record.Status = response.StatusCode
		record.Charge, _ = strconv.ParseFloat(response.Header.Get(chargeHeader), 64)
	}
	meter.add(record.Charge, err == nil)
	switch isRead := target.isRead(); {
	case isRead && err == nil && hasUsableToken(response):
		meter.noteRead(target.Container, response.Header.Get(SessionTokenHeader))
	case !isRead && mayBeExecuted(record.Status, err):
		meter.noteWrite()
	}
	if p.own != nil {
		p.own.Record(ctx, record)
	}
	if recorder != nil {
		record.PartitionKeys = keys
		recorder.Record(ctx, record)
	}
	return response, err
}

// mayBeExecuted reports whether a request with an answer or an error may have been executed.
func mayBeExecuted(status int, err error) bool {
	return err != nil && !isNotSent(err) || err == nil && (status < 300 || isOutcomeUnknown(status))
}

// tryCount is the number of times that a request was sent. It is an operation value of the request,
// which all of its tries share.
type tryCount int

// countTry counts a try, and returns the number of tries so far.
func countTry(request *policy.Request) tryCount {
	var n tryCount
	request.OperationValue(&n)
	n++
	request.SetOperationValue(n)
	return n
}
