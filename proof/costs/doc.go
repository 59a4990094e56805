// Package costs compares the requests, charges and prices of the API with docs/costs.md and
// docs/azure.md. It consists of tests only.
package costs
