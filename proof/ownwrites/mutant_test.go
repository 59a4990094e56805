package ownwrites

import (
	"flag"
	"testing"

	"cosmosblog/proof/mutanttest"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which compiles the sessions with deliberate mistakes")

var finding = []string{".", "-run", "^TestClientsReadTheirWrites$"}

// findingLosses runs enough histories to find a mistake that shows when the database goes back.
var findingLosses = []string{".", "-run", "^TestDatabaseGoesBack$", "-losses", "24", "-failfast"}

// findingMoves runs enough histories to find a mistake that shows when projectors move.
var findingMoves = []string{".", "-run", "^TestProjectorsMove$", "-moves", "60", "-failfast"}

// findingStreams finds mistakes that show at one moment of a stream, which random histories rarely
// meet.
var findingStreams = []string{"../../resolvers", "-run", "^Test(EditOfOlderComment|StreamsBeginWithThePresent|ArrivalAheadOfAReplica|SignalAheadOfAReplica)$"}

// findingRebuilds finds mistakes that random histories rarely show.
var findingRebuilds = []string{"../../projector", "-run", "^Test(RebuildWaitsForLeases|UsersGoBackWithPosts|DeletedAgain)$"}

var mutants = map[string]mutanttest.Mutant{
	"views are read without their states": {
		File:  "../../store/sessions/sessions.go",
		Right: "	if ok {\n		cosmos.ClaimSession(ctx, views)\n	}\n",
		Wrong: "	_ = views\n",
		Tests: finding,
	},
	"a server forgets its own writes": {
		File:  "../../store/sessions/accounts.go",
		Right: "	a.latest[account] = known.followedBy(done, later)\n",
		Wrong: "	a.latest[account] = known\n",
		Tests: finding,
	},
	"a client's token is ignored": {
		File:  "../../api/session.go",
		Right: "t.Sessions.Begin(ctx, request.Of(ctx).UserID(), sent)",
		Wrong: "t.Sessions.Begin(ctx, request.Of(ctx).UserID(), map[bool]sessions.Token{true: sent}[false])",
		Tests: finding,
	},
	"sources are read without their states": {
		File:  "../../store/sessions/sessions.go",
		Right: "	cosmos.ClaimSession(ctx, x.needed.Written)\n",
		Wrong: "",
		Tests: finding,
	},
	"nothing waits for the checkpoints": {
		File:  "../../store/sessions/checkpoints.go",
		Right: "	if !r.passed.Covers(id + \":\" + position) {\n",
		Wrong: "	if false {\n",
		Tests: finding,
	},
	"an answer does not say that it is stale": {
		File:  "../../api/session.go",
		Right: "	if s.IsStale(s.ctx) {\n",
		Wrong: "	if s.IsStale(s.ctx) && s.isMutation {\n",
		Tests: finding,
	},
	"the checkpoint is ahead of the views": {
		File:  "../../store/follow/page.go",
		Right: "	case reached >= p.End:\n		return p.End, true\n",
		Wrong: "	case reached >= p.End:\n		return p.End + 1, true\n",
		Tests: finding,
	},
	"the account's former name is shown": {
		File:  "../../resolvers/ownname.go",
		Right: "	if user == nil || user.ID != own.ID || user.Revision >= own.Revision {\n",
		Wrong: "	if user == nil || user.ID == own.ID || user.Revision >= own.Revision {\n",
		Tests: finding,
	},
	"what is kept serves every session": {
		File:  "../../store/read.go",
		Right: "s.cache.Keeps() && s.tail.Passed(c.ID(), needed)",
		Wrong: "s.cache.Keeps()",
		Tests: finding,
	},
	"a client's likes are read without its states": {
		File:  "../../store/query_post.go",
		Right: "	items, err := readItems[schema.LikeItem](ctx, s,",
		Wrong: "	items, err := readItems[schema.LikeItem](cosmos.WithSession(ctx), s,",
		Tests: finding,
	},
	"what one session has read serves every other": {
		File:  "../../store/read.go",
		Right: "	return read.Covers(a.needed)\n",
		Wrong: "	return true\n",
		Tests: finding,
	},
	"a kept result has the state of its session": {
		File:  "../../store/read.go",
		Right: "		token := s.tokenToKeep(meter, c)\n",
		Wrong: "		token := cosmos.SessionTokenOf(ctx, c.ID())\n",
		Tests: findingMoves,
	},
	"a repeated step forgets the lists": {
		File:  "../../projector/reader.go",
		Right: "	if at.Container != schema.Posts || !r.held.mayRepeat() {\n",
		Wrong: "	if at.Container == schema.Posts || !r.held.mayRepeat() {\n",
		Tests: findingMoves,
	},
	"edits of older comments wake no stream": {
		File:  "../../resolvers/subscription.go",
		Right: " || signals != s.signals:\n",
		Wrong: ":\n",
		Tests: findingStreams,
	},
	"a stream begins with the answer of one before": {
		File:  "../../api/subscription/answer.go",
		Right: "	if x.lastAt.IsZero() {",
		Wrong: "	if false {",
		Tests: findingStreams,
	},
	"a stream that waits does not learn what its signal told": {
		File:  "../../resolvers/subscription.go",
		Right: "		s.store.JoinSignals(ctx)\n	}\n}\n",
		Wrong: "	}\n}\n",
		Tests: findingStreams,
	},
	"a gap is not part of what differs": {
		File:  "../../api/subscription/answer.go",
		Right: "answerKey{x.operation.Key, event.ID, event.HasGap}",
		Wrong: "answerKey{x.operation.Key, event.ID, false}",
		Tests: []string{"../../api/subscription", "-run", "^TestGapsAreNotShared$"},
	},
	"a stream reads a state before that of its signal": {
		File:  "../../resolvers/subscription.go",
		Right: "	s.watch.join(ctx)\n",
		Wrong: "",
		Tests: findingStreams,
	},
	"the tail stands still": {
		File:  "../../store/tail/poll.go",
		Right: "		err := t.poll(ctx, c, feeds)\n",
		Wrong: "		err := t.poll(ctx, c, feeds[:0])\n",
		Tests: finding,
	},
	"a position beyond the end stays": {
		File:  "../../projector/history.go",
		Right: "	if !mayEnd(at, page) || !hasLost && now.Sub(r.beyondEndSince) < follow.BeyondEndLimit {\n",
		Wrong: "	if !mayEnd(at, page) || hasLost || !now.Before(r.beyondEndSince) {\n",
		Tests: findingLosses,
	},
	"the leases of a history that ended are valid": {
		File:  "../../store/changefeed/history.go",
		Right: "return name >= h.leasesSince }",
		Wrong: "return name >= h.leasesSince || true }",
		Tests: findingLosses,
	},
	"views are not rebuilt": {
		File:  "../../projector/rebuild.go",
		Right: "	if err := p.options.Rebuild(ctx, history.Name); err != nil {\n",
		Wrong: "	if err := ctx.Err(); err != nil {\n",
		Tests: findingLosses,
	},
	"checkpoints count before the rebuild": {
		File:  "../../projector/held_lease.go",
		Right: "	if h.rebuilt {\n",
		Wrong: "	if h.rebuilt || true {\n",
		Tests: findingLosses,
	},
	"a rebuild begins before the leases": {
		File:  "../../projector/rebuild.go",
		Right: "|| slices.ContainsFunc(listing.Leases, isNotBegun) {\n",
		Wrong: "|| slices.ContainsFunc(listing.Leases, isNotBegun) && false {\n",
		Tests: findingRebuilds,
	},
	"a rebuild reads the change feeds": {
		File:  "../../store/changefeed/history.go",
		Right: "return h.leasesSince == \"\" }",
		Wrong: "return h.leasesSince == \"\" || true }",
		Tests: findingLosses,
	},
	"checkpoints of before a write count": {
		File:  "../../store/sessions/checkpoints.go",
		Right: "	return written.Sub(asOf) <= maxPositionAge\n",
		Wrong: "	return written.Sub(asOf) <= 1000*maxPositionAge\n",
		Tests: findingLosses,
	},
	"lost writes are awaited": {
		File:  "../../store/sessions/checkpoints.go",
		Right: "		return asOf.Sub(written) > lostWriteAge\n",
		Wrong: "		return false\n",
		Tests: []string{"../../store/sessions", "-run", "^TestPassed$"},
	},
	"lost names are remembered": {
		File:  "../../resolvers/load.go",
		Right: "		sessions.From(ctx).UserRead(id, user)\n",
		Wrong: "		_ = sessions.From(ctx).UserRead\n",
		Tests: findingLosses,
	},
	"streams keep a lost session": {
		File:  "../../store/store.go",
		Right: "		if cosmos.IsSessionLost(session) {\n",
		Wrong: "		if cosmos.IsSessionLost(session) && false {\n",
		Tests: []string{"../../store", "-run", "^TestFollowBeginsAnotherSession$"},
	},
	"work for lost renames goes on": {
		File:  "../../projector/rebuild.go",
		Right: "	if err := p.pending.ForgetLostWork(ctx); err != nil {\n",
		Wrong: "	if err := ctx.Err(); err != nil {\n",
		Tests: findingRebuilds,
	},
	"an export goes on in another history": {
		File:  "../../store/export/export.go",
		Right: "len(r.next.Positions) > 0 && r.next.History != r.history.Name {\n",
		Wrong: "len(r.next.Positions) > 9999 && r.next.History != r.history.Name {\n",
		Tests: findingLosses,
	},
}

// TestMutantsAreFound plants one mistake at a time in a copy of the sources that only the compiler
// sees.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the sessions several times; set -mutants to run it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) { m.Test(t) })
	}
}

func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		m.Plant(t)
	}
}
