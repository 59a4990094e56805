// Package script runs stored procedures and triggers in JavaScript as Azure Cosmos DB does. It
// provides the server-side API (getContext, __, console), the queue of operations, and the
// service's rules for failures.
//
// Scripts run in goja. The package does not access storage: the caller passes a Collection,
// which is a transaction in one logical partition. The caller commits it if the execution
// succeeds, and rolls it back otherwise.
//
// First, the main function runs to its end. Then the operations it requested are performed one
// by one in the order of the requests. Each operation is followed by its callback. Operations
// requested by callbacks go to the end of the same queue. The execution ends when the queue is
// empty.
//
// Memory is not limited, and a call of a built-in function cannot be interrupted. Scripts must
// therefore come from people who are trusted with the engine, never from users of an API built
// on it.
//
// As in the service, there is no eval, Function constructor, timer, module or network. Unlike
// the service, the package has no integrated query API of __ (filter, map, pluck, sortBy,
// flatten, unwind, chain) and no attachments; scripts that call them fail with a TypeError. The
// options of a callback lack the sizes of the collection.
//
// The language is newer than the ECMAScript 2015 of the service, although newer globals are
// removed. A script that runs here may therefore use syntax or methods that the service lacks.
package script
