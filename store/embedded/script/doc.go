// Package script runs stored procedures and triggers written in JavaScript as Azure Cosmos DB runs them: with its
// server-side API (getContext, __, console), its queue of operations and its rules for what fails and what does not.
// The engine underneath is goja; nothing here knows how or where items are stored. Whoever executes a script hands in
// a Collection, which is one transaction in one logical partition, and commits it when the execution succeeded and
// drops it when it did not.
//
// The main function runs to its end first. The operations it asked for then run one after the other in the order they
// were asked for, each operation's callback right behind it; what callbacks ask for goes to the end of the same queue.
// The execution is over when the queue is empty.
//
// Memory is not limited and a single call of a built-in function cannot be interrupted, so scripts must come from
// people who are trusted with the engine, never from users of an API built on it.
//
// Not there, as in the service: eval, the Function constructor, timers, modules, network. Not there although the
// service has them: the integrated query API of __ (filter, map, pluck, sortBy, flatten, unwind, chain) and attachments;
// a script that calls them fails with a TypeError. What a callback gets as its options lacks the sizes of the
// collection. The language is newer than the service promises (ECMAScript 2015), but for the globals that came later:
// that a script runs here does not prove that its syntax and the methods it calls run there.
package script
