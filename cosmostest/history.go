package cosmostest

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cosmosblog/engine"
)

// LoseWrites is a failover that loses the last writes: the follower takes the leader's place. The
// writes to items of the named containers that it has not received yet are lost, although they were
// acknowledged. It receives all others first, in their order: those of other containers, and those
// of definitions, which are never lost. containers are names without their database; without any,
// all containers lose writes.
//
// From then on, the former follower answers all requests, under the same key, resource ids and
// etags. The log sequence numbers of the containers go on from the earlier state, so that they
// appear again, for other changes: session tokens of before may be rejected with 404/1002, and a
// reader of the change feed that is ahead gets nothing until it is not, and then misses changes. An
// etag of a lost write never appears again. With Options.Regions, the other region then writes, as
// after Failover.
//
// Nothing is late any more, and the methods of Follower change nothing. A second call only changes
// the region. With Options.Dir, the folder keeps what the former leader had, and receives nothing.
// Split lets the follower catch up, so nothing that was written before is lost.
//
// It ends the test of New without Options.Follower, or if no database has a container of a name. It
// may be called concurrently with requests, each of which is answered by one of the two engines.
func (a *Account) LoseWrites(containers ...string) {
	a.goBack(containers, false)
}

// Restore restores the named containers, or all if none is named, to the state that the follower
// has. It is LoseWrites, and also hides the past of these containers from their change feeds: they
// show only what is written after Restore, and none of the items that were restored, until one is
// written again, as those of the service (learn.microsoft.com/azure/cosmos-db/
// restore-in-account-continuous-backup-introduction). A continuation is valid as after LoseWrites.
//
// To go back to a certain moment, a test calls Follower.Hold then, or Follower.Lead, with which no
// read is late meanwhile, and Restore later. A further call hides what was written since the last
// one, and loses nothing. Errors and concurrency are those of LoseWrites.
func (a *Account) Restore(containers ...string) {
	a.goBack(containers, true)
}

// goBack is LoseWrites, or Restore if hide is true.
func (a *Account) goBack(containers []string, hide bool) {
	a.requireNames(containers)
	a.Follower.lose(containers, hide)
	if a.regions != nil {
		a.Failover()
	}
}

// requireNames ends the test unless there is a follower, and containers of all names.
func (a *Account) requireNames(containers []string) {
	if a.follower == nil {
		a.require(errors.New("cosmostest: only an account with Options.Follower can go back to an earlier state"))
	}
	for _, name := range containers {
		if !a.present().HasContainer(name) {
			a.require(errors.New("cosmostest: there is no container " + name))
		}
	}
}

// successorChanges is added to the counts of Changes once the follower has taken the leader's
// place, so that they are greater than all before.
const successorChanges = 1 << 32

// pair are the engines of an account with a follower.
type pair struct {
	leader, follower *engine.Engine
	decisions        *decisions // of the leader's scripts, or of the follower's
}

// lose puts the follower in the leader's place, unless it has it already. Writes to the items of
// the named containers, or of all if none is named, that it lacks are lost. hide also hides the
// changes of these containers that are left.
func (r *Replica) lose(containers []string, hide bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.successor.Load() == nil {
		r.replaySome(containers)
	}
	if hide {
		r.pair.follower.HideChanges(containers...)
	}
	r.successor.Store(r.pair.follower)
}

// replaySome sends the writes that are not lost to the follower, and makes it ready to take the
// leader's place.
func (r *Replica) replaySome(containers []string) {
	follower := r.pair.follower
	for _, w := range r.log {
		if w.container == "" || len(containers) > 0 && !slices.Contains(containers, w.container) {
			follower.SkipSerials(w.serial) // those of lost writes, so that its etag is that of the leader
			r.replay(w)
		}
	}
	r.log = nil
	follower.SkipSerials(r.pair.leader.Serial())
	follower.TakeWatchers(r.pair.leader)
	r.pair.decisions.end()
}

// containerNamed returns the name of the container to whose items a request is, given the headers
// of its answer. It is empty for a request to definitions.
func containerNamed(request *http.Request, answered http.Header) string {
	if !isOfItems(request) {
		return ""
	}
	link := answered.Get("X-Ms-Alt-Content-Path") // has names, also if the path has resource ids
	if link == "" {
		link = strings.Trim(request.URL.EscapedPath(), "/")
	}
	name, err := url.PathUnescape(strings.Split(link, "/")[3])
	if err != nil {
		return "" // the account refused the path
	}
	return name
}
