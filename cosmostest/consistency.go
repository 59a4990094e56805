package cosmostest

import "cosmosblog/engine"

// Consistency is the consistency level of an account.
type Consistency = engine.Consistency

// The consistency levels of the service, from the strongest to the weakest.
const (
	Strong           = engine.Strong
	BoundedStaleness = engine.BoundedStaleness
	Session          = engine.Session
	ConsistentPrefix = engine.ConsistentPrefix
	Eventual         = engine.Eventual
)

// SetConsistency changes the account's level, and whether it says that it writes in several
// regions. Clients learn that when they read the description of the account again.
func (a *Account) SetConsistency(level Consistency, writesInSeveralRegions bool) {
	a.engine.SetConsistency(level, writesInSeveralRegions)
	if a.follower != nil {
		a.follower.SetConsistency(level, writesInSeveralRegions)
	}
}
