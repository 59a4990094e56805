package engine

import "net/http"

// Consistency is the consistency level of an account, by its name in the description of the account
// (learn.microsoft.com/javascript/api/@azure/cosmos/consistencylevel).
type Consistency string

// The consistency levels, from the strongest to the weakest.
const (
	Strong           Consistency = "Strong"
	BoundedStaleness Consistency = "BoundedStaleness"
	Session          Consistency = "Session"
	ConsistentPrefix Consistency = "ConsistentPrefix"
	Eventual         Consistency = "Eventual"
)

// IsValid reports whether c is one of the levels.
func (c Consistency) IsValid() bool {
	switch c {
	case Strong, BoundedStaleness, Session, ConsistentPrefix, Eventual:
		return true
	}
	return false
}

// ReadsTwoReplicas reports whether reads ask two replicas, which doubles their charge, and so see
// all writes that were acknowledged in the region (learn.microsoft.com/azure/cosmos-db/
// consistency-levels, "Consistency levels and throughput").
func (c Consistency) ReadsTwoReplicas() bool { return c == Strong || c == BoundedStaleness }

// HasSessions reports whether session tokens have an effect.
func (c Consistency) HasSessions() bool { return c == Session || c.ReadsTwoReplicas() }

// SetConsistency changes what Options.Consistency and Options.WritesInSeveralRegions say, as an
// account can be changed. It may be called concurrently with requests.
func (e *Engine) SetConsistency(level Consistency, writesInSeveralRegions bool) {
	e.account.Store(&accountProperties{level, writesInSeveralRegions})
}

// Consistency returns the account's level. It may be called concurrently with requests.
func (e *Engine) Consistency() Consistency { return e.account.Load().consistency }

// accountProperties are those that an account can change. They are not stored.
type accountProperties struct {
	consistency            Consistency
	writesInSeveralRegions bool
}

// isChargedTwice reports whether the request reads items from two replicas.
func (r *request) isChargedTwice() bool {
	return r.engine.Consistency().ReadsTwoReplicas() && len(r.kinds) > 2 && r.kinds[2] == "docs" &&
		(r.Method == http.MethodGet || IsQuery(r.Header))
}
