package cosmos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// answers holds the bodies of the answers to one read or query. It may be used concurrently.
//
// azcosmos parses a page of a query twice and writes its items again, before we decode them.
// answersPolicy therefore keeps the body, and passes azcosmos a page with one item: the number of
// the body. azcosmos still signs, retries, follows continuations and reports errors. The items that
// it returns name the bodies that count. A read many, for example, may drop pages of a failed try.
type answers struct {
	mu     sync.Mutex
	bodies [][]byte
}

// withAnswers returns a context for one read or query, and the answers to it.
func withAnswers(ctx context.Context) (context.Context, *answers) {
	received := new(answers)
	return withCall(ctx, func(c *call) { c.answers = received }), received
}

func (a *answers) keep(body []byte) (number int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bodies = append(a.bodies, body)
	return len(a.bodies) - 1
}

// take returns the body that an item of azcosmos names, and releases it.
func (a *answers) take(item []byte) ([]byte, error) {
	number, err := strconv.Atoi(string(item))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil || number < 0 || number >= len(a.bodies) {
		return nil, ToBlogError(errors.New("azcosmos returned an item that is not the number of an answer"))
	}
	body := a.bodies[number]
	a.bodies[number] = nil
	return body, nil
}

// answersPolicy keeps the bodies of successful answers for contexts of withAnswers. Answers to all
// other requests of the context pass, such as those to reads of metadata.
//
// It is the last policy, so that a body that breaks off is an error for all others.
type answersPolicy struct{}

func (answersPolicy) Do(request *policy.Request) (*http.Response, error) {
	received := callOf(request.Raw().Context()).answers
	if received == nil {
		return request.Next()
	}
	target, _ := TargetOf(request.Raw())
	switch target.Operation {
	case OperationRead, OperationReadMany, OperationQuery:
	default:
		return request.Next()
	}
	runtime.SkipBodyDownload(request) // azcore still downloads the bodies of errors
	response, err := request.Next()
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		return response, err
	}
	body, err := readBody(response)
	if err != nil {
		return response, err
	}
	number := strconv.Itoa(received.keep(body))
	if target.Operation != OperationRead {
		number = `{"Documents":[` + number + `]}`
	}
	response.Body = io.NopCloser(strings.NewReader(number))
	return response, nil
}

// maxTrustedLength limits what is allocated because of a Content-Length alone. The service's pages
// have at most 4 MB.
const maxTrustedLength = 4 << 20

// readBody reads and closes the body of an answer.
func readBody(response *http.Response) ([]byte, error) {
	defer response.Body.Close()
	if body, ok := response.Body.(interface{ Whole() []byte }); ok { // that of a handler in this process
		return body.Whole(), nil
	}
	var b bytes.Buffer
	b.Grow(int(min(max(response.ContentLength, 0), maxTrustedLength)) + bytes.MinRead)
	_, err := b.ReadFrom(response.Body)
	return b.Bytes(), err
}
