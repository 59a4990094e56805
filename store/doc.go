// Package store is everything that touches Cosmos DB: the containers and their items, the commands C1–C4 and the queries
// Q1–Q6 of the article, the stored procedures, the change feed, the projector's leases and views, sessions and request
// charges. It always speaks azcosmos; where no endpoint is configured, over a transport that calls the embedded engine.
//
// Commands change the source of truth and are in files named command_*; queries read, each one request to one
// partition, and are in files named query_*. Both return the types of package blog and its errors: whatever Cosmos DB
// answers is one of blog's codes when it leaves this package. All methods of Store may be used concurrently.
package store
