package contract

import (
	"cmp"
	"slices"
	"time"
)

// rememberedFor is how long a server remembers what an account has written (docs/design.md).
const rememberedFor = 5 * time.Minute

// covers reports whether the answer to o must include a write of its own client, unless the answer
// says that it is stale. That is so if the request had a session token that includes the write, or
// if it went to the same server, which was not killed meanwhile.
func (c *checker) covers(o, write *Operation) bool {
	if !write.isDone() || write.Kind.IsRead() || write.Completed >= o.Invoked || write.Account != o.Account {
		return false
	}
	if o.SentSession && write.GotSession && write.Client == o.Client {
		return true
	}
	return write.Server == o.Server && write.Completed > o.Invoked-rememberedFor &&
		!c.mayHaveForgotten(o.Server, write.Invoked, o.Completed)
}

// mayHaveForgotten reports whether a server may have been killed between two times.
func (c *checker) mayHaveForgotten(server int, from, until time.Duration) bool {
	return slices.ContainsFunc(c.history.Kills, func(k Kill) bool {
		return k.Server == server && k.From < until && k.Until > from
	})
}

// covered returns those of some writes that the answer to o must include, apart from Stale.
func (c *checker) covered(o *Operation, writes []*Operation) (own []*Operation) {
	for _, w := range writes {
		if c.covers(o, w) {
			own = append(own, w)
		}
	}
	return own
}

// floor is what the state in an answer includes at least: all writes to the object that were
// complete before a time, and some writes of the answer's own client.
type floor struct {
	at  time.Duration
	own []*Operation
}

// floors returns the floors of an answer: the one for every client, and the one for the client that
// made some of the writes. A write that took effect before an own one is included with it. It may
// have been complete only later. So the second floor begins when the last own write began, and not
// when that was complete.
func (c *checker) floors(o *Operation, writes []*Operation) []floor {
	floors := []floor{{at: o.Invoked - c.lag(o)}}
	if o.Stale {
		return floors
	}
	if own := c.ownFloor(o, writes); len(own.own) > 0 {
		own.at = max(own.at, floors[0].at)
		floors = append(floors, own)
	}
	return floors
}

// ownFloor returns the floor of the covered writes alone.
func (c *checker) ownFloor(o *Operation, writes []*Operation) floor {
	f := floor{at: -1, own: c.covered(o, writes)}
	for _, w := range f.own {
		f.at = max(f.at, w.Invoked)
	}
	return f
}

// includes reports whether a write is included that was complete at a time. by is nil if no single
// operation made it.
func (f floor) includes(completed time.Duration, by *Operation) bool {
	return completed < f.at || by != nil && slices.Contains(f.own, by)
}

// includesCreation reports whether the creation of an item is included. The own client may have
// repeated it.
func (f floor) includesCreation(c *checker, made *creation) bool {
	return made.completed < f.at || slices.ContainsFunc(f.own, func(o *Operation) bool {
		return (o.Kind == CreatePost || o.Kind == CreateComment) && c.creations[creationKey(o)] == made
	})
}

// deletion returns an acknowledged deletion that is included, or nil.
func (f floor) deletion(deletions []*Operation) *Operation {
	for _, d := range deletions {
		if d.isDone() && f.includes(d.Completed, d) {
			return d
		}
	}
	return nil
}

// version returns the greatest version of a post that is included, of those that answers showed
// (latestVersions). Of the client's own answers, only those to edits count: others may show what
// was written after their own write.
func (f floor) version(latest []sighting) (version int) {
	before, _ := slices.BinarySearchFunc(latest, f.at, func(a sighting, at time.Duration) int {
		return cmp.Compare(a.by.Completed, at)
	})
	if before > 0 {
		version = latest[before-1].version
	}
	for _, o := range f.own {
		if o.Kind == UpdatePost && o.Post != nil {
			version = max(version, o.Post.Version)
		}
	}
	return version
}

// expect reports an answer that contradicts a floor. rule is for the floor of every client.
func (c *checker) expect(floors []floor, permits func(floor) bool, rule Rule, format string, arguments ...any) {
	for i, f := range floors {
		if permits(f) {
			continue
		}
		if i > 0 {
			rule = MissedOwnWrite
			format += "; own writes: %v"
			arguments = append(arguments, f.own)
		}
		c.report(rule, format, arguments...)
		return
	}
}

// checkSessions checks what answers show their own clients, apart from reads of single objects.
func (c *checker) checkSessions() {
	for i := range c.history.Operations {
		o := &c.history.Operations[i]
		if !o.isDone() {
			continue
		}
		c.checkOwnName(o)
		c.checkToken(o)
		if o.Kind == ReadFeed && !o.Stale {
			c.checkFeed(o)
		}
	}
}

// checkToken checks that a request that certainly changed something got a session token.
func (c *checker) checkToken(o *Operation) {
	if o.GotSession {
		if o.Kind.IsRead() {
			c.report(WrongAnswer, "%v returned a session token", o)
		}
		return
	}
	switch o.Kind {
	case CreatePost, CreateComment:
		if made := c.creations[creationKey(o)]; made.requests > 1 {
			return // an earlier request may have created it
		}
	case DeletePost, DeleteComment:
	default:
		return // it may have changed nothing
	}
	c.report(WrongAnswer, "%v returned no session token", o)
}

// checkOwnName checks the username of the client's own user in an answer: it is one that the user
// may have had after the last naming that the request covers. That holds for stale answers too.
func (c *checker) checkOwnName(o *Operation) {
	a := c.account(o.Account)
	f := c.ownFloor(o, a.namings)
	if len(f.own) == 0 || a.userID == "" {
		return
	}
	check := func(place string, u User) {
		if u.ID == a.userID && !a.names.permitsAfter(u.Username, f, o.Completed) {
			c.report(FormerOwnName, "%v shows %s %q as the name of its own user; own namings: %v", o, place, u.Username, f.own)
		}
	}
	checkPost := func(p *Post) {
		check("the author of "+p.ID, p.Author)
		for _, m := range p.RecentComments {
			check("the author of the recent comment "+m.ID, m.Author)
		}
	}
	if o.User != nil && o.Kind == ReadViewer {
		check("the viewer", *o.User)
	}
	if o.Post != nil {
		checkPost(o.Post)
	}
	if o.Comment != nil {
		check("the author of "+o.Comment.ID, o.Comment.Author)
	}
	for i := range o.Feed {
		checkPost(&o.Feed[i])
	}
}

// FeedPage is the number of posts that a ReadFeed requests.
const FeedPage = 50

// checkFeed checks that a feed shows what its own client wrote. What others wrote may be missing.
func (c *checker) checkFeed(o *Operation) {
	shown := map[string]bool{}
	for i := range o.Feed {
		shown[o.Feed[i].ID] = true
		c.checkInFeed(o, &o.Feed[i])
	}
	for _, w := range c.covered(o, c.account(o.Account).mutations) {
		if w.Kind == CreatePost && w.Post != nil && !shown[w.Post.ID] && !c.mayBeGone(c.post(w.Post.ID), o.Completed) && !isBeyond(w.Post, o.Feed) {
			c.report(MissedOwnWrite, "%v lacks the post %s of %v", o, w.Post.ID, w)
		}
	}
}

// isBeyond reports whether a post is older than all posts of a full feed.
func isBeyond(p *Post, feed []Post) bool {
	return len(feed) >= FeedPage && newestFirst(*p, feed[len(feed)-1]) > 0
}

// checkInFeed checks a post in a feed.
func (c *checker) checkInFeed(o *Operation, shown *Post) {
	p := c.post(shown.ID)
	if d := (floor{own: c.covered(o, c.account(o.Account).deletions)}).deletion(c.account(o.Account).deletions); d != nil &&
		p.creation != nil && p.creation.first.Account == o.Account && p.creation.completed < d.Invoked {
		c.report(MissedOwnWrite, "%v shows the post %s, which was deleted with its author by %v", o, p.id, d)
	}
	f := c.ownFloor(o, p.mutations)
	if len(f.own) == 0 {
		return
	}
	if d := f.deletion(p.deletions); d != nil {
		c.report(MissedOwnWrite, "%v shows the post %s, which was deleted by %v", o, p.id, d)
		return
	}
	if version := f.version(p.latestVersions()); version > shown.Version {
		c.report(MissedOwnWrite, "%v shows version %d of %s, want %d; own writes: %v", o, shown.Version, p.id, version, f.own)
	}
	c.expectCounts(o, shown, []floor{f}, MissedOwnWrite)
}

// FeedAnswers returns the number of feeds that should show something that their own client wrote,
// and how many of them say that they may not.
func FeedAnswers(h *History) (covered, stale int) {
	c := newChecker(h)
	for i := range h.Operations {
		o := &h.Operations[i]
		if o.Kind != ReadFeed || !o.isDone() || len(c.covered(o, c.account(o.Account).mutations)) == 0 {
			continue
		}
		covered++
		if o.Stale {
			stale++
		}
	}
	return covered, stale
}
