package storetest

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Transporter is the transport behind a fault.
type Transporter = policy.Transporter

// Failures are the possible outcomes of an operation of a script: 0 means that it is not
// accepted; the others are the error numbers that the service passes to callbacks.
var Failures = []int64{0, 400, 403, 404, 409, 412, 413, 449, 500}
