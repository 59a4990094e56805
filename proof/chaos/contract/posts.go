package contract

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// post is everything that happened to a post.
type post struct {
	id        string
	creation  *creation // nil if no request that creates it was acknowledged
	edits     []*Operation
	deletions []*Operation
	writes    []*Operation // of comments and likes
	reads     []*Operation
	mutations []*Operation // of the post, its comments and its likes
	comments  []*creation
	likes     map[string]*likeRegister // by account
	states    map[int]state            // by version, as far as answers showed them
	seen      []sighting
	latest    []sighting // of latestVersions; nil before its first call
}

// state is the title and the content of a version of a post. An empty one was not shown.
type state struct{ title, content string }

// sighting is an answer that showed a version of a post.
type sighting struct {
	version int
	author  User
	by      *Operation
}

// observe records the version of a post in an answer. A version has one title and one content.
func (c *checker) observe(o *Operation, shown *Post) {
	p := c.post(shown.ID)
	p.seen = append(p.seen, sighting{shown.Version, shown.Author, o})
	if readsContentLater(o) {
		withoutContent := *shown
		withoutContent.Content = ""
		shown = &withoutContent
	}
	c.addState(p, shown, o)
}

// readsContentLater reports whether an answer may show the content of a later version of the post.
// That of an edit that changed nothing may, too: it has no session token.
func readsContentLater(o *Operation) bool {
	switch o.Kind {
	case CreateComment, DeleteComment, LikePost, UnlikePost:
		return true
	case UpdatePost:
		return !o.GotSession
	}
	return false
}

// checkLaterContent checks that a content is that of a version in an answer, or of a later one.
func (c *checker) checkLaterContent(p *post, s sighting) {
	if !readsContentLater(s.by) || s.by.Post.Content == "" || p.creation == nil {
		return
	}
	last := s.version // with a known content; edits of the title keep it
	for last > 1 && p.states[last].content == "" {
		last--
	}
	for v, is := range p.states {
		if v >= last && is.content == s.by.Post.Content {
			return
		}
	}
	for _, o := range p.edits {
		if o.mayBeDone() && o.Content == s.by.Post.Content && (o.Post == nil || o.Post.Version >= s.version) {
			return
		}
	}
	c.report(StaleAnswer, "%v shows version %d of %s with the content %q", s.by, s.version, p.id, s.by.Post.Content)
}

// addState merges the texts of a post in an answer with those of other answers.
func (c *checker) addState(p *post, shown *Post, by fmt.Stringer) {
	known := p.states[shown.Version]
	if known.title != "" && known.title != shown.Title ||
		known.content != "" && shown.Content != "" && known.content != shown.Content {
		c.report(LostUpdate, "version %d of %s has the texts %q and %q, and also %q and %q, by %v",
			shown.Version, p.id, known.title, known.content, shown.Title, shown.Content, by)
	}
	known.title = shown.Title
	if shown.Content != "" {
		known.content = shown.Content
	}
	p.states[shown.Version] = known
}

// author returns the account that created the post, or nil.
func (c *checker) author(made *creation) *account {
	if made == nil {
		return nil
	}
	return c.account(made.first.Account)
}

// mayBeGone reports whether the post may have been deleted by a time.
func (c *checker) mayBeGone(p *post, by time.Duration) bool {
	for _, d := range p.deletions {
		if d.mayBeDone() && d.Invoked < by {
			return true
		}
	}
	return p.creation == nil || c.author(p.creation).mayHaveEnded(p.creation.invoked, by)
}

// deletedBefore returns a deletion that was acknowledged before a time, or nil.
func deletedBefore(deletions []*Operation, by time.Duration) *Operation {
	return floor{at: by}.deletion(deletions)
}

// checkPost checks the answers of all requests for a post.
func (c *checker) checkPost(p *post) {
	c.checkVersions(p)
	for _, o := range slices.Concat(p.edits, p.deletions, p.writes) {
		c.checkWriteToPost(p, o)
	}
	for _, o := range p.reads {
		c.checkRead(o, c.floors(o, p.mutations), o.Post == nil, p.creation, p.deletions, func(by time.Duration) bool { return c.mayBeGone(p, by) })
	}
	for _, s := range p.seen {
		c.checkAuthor(s.by, s.author, p.creation)
		c.checkLaterContent(p, s)
	}
}

func (c *checker) checkWriteToPost(p *post, o *Operation) {
	if d := deletedBefore(p.deletions, o.Invoked); o.isDone() && d != nil {
		c.report(WriteToDeleted, "%v, after %v", o, d)
	}
	if o.Outcome == Rejected && o.Code == "NOT_FOUND" && !c.mayBeGone(p, o.Completed) &&
		!c.commentMayBeGone(o) {
		c.report(Unjustified, "%v, but nobody can have deleted the post", o)
	}
	if o.Kind != UpdatePost && o.Kind != DeletePost {
		return
	}
	isAuthor := p.creation == nil || p.creation.first.Account == o.Account
	if o.isDone() && !isAuthor {
		c.report(Forbidden, "%v, but the post is by %s", o, p.creation.first.Account)
	}
	if o.Code == "FORBIDDEN" && isAuthor {
		c.report(Unjustified, "%v, but the post is by this account", o)
	}
}

// commentMayBeGone reports whether a request that creates a comment was rejected because an earlier
// one with the same key created it, and it was deleted.
func (c *checker) commentMayBeGone(o *Operation) bool {
	if o.Kind != CreateComment {
		return false
	}
	made := c.creations[creationKey(o)]
	return made.id != "" && c.commentIsGoneBy(c.comment(made.id), o.Completed) ||
		c.author(made).mayHaveEnded(made.invoked, o.Completed)
}

// checkRead checks whether a read may have found, or missed, its item.
func (c *checker) checkRead(
	o *Operation, floors []floor, isMissing bool, made *creation, deletions []*Operation, mayBeGone func(by time.Duration) bool,
) {
	if !o.isDone() {
		return
	}
	isFresh := func(f floor) bool { return isMissing || f.deletion(deletions) == nil }
	c.expect(floors, isFresh, StaleAnswer, "%v found an item that was deleted by one of %v", o, deletions)
	if made != nil {
		isThere := func(f floor) bool { return !isMissing || !f.includesCreation(c, made) || mayBeGone(o.Completed) }
		c.expect(floors, isThere, LostWrite, "%v found nothing, although it was created by %v, and nobody can have deleted it", o, made.first)
	}
}

// checkAuthor checks the author of an item in an answer: the account that created it, under a name
// that this account requested.
func (c *checker) checkAuthor(o *Operation, author User, made *creation) {
	if made == nil {
		return
	}
	a := c.author(made)
	if author.ID != a.userID {
		c.report(WrongAnswer, "%v shows the author %q, want %q", o, author.ID, a.userID)
	}
	for _, naming := range a.namings {
		if naming.mayBeDone() && naming.Username == author.Username && naming.Invoked < o.Completed {
			return
		}
	}
	c.report(RejectedWrite, "%v shows the username %q, which %s never got", o, author.Username, a.name)
}

// latestSeen returns the greatest version of a post that any answer showed.
func (p *post) latestSeen() int {
	latest := 1
	for _, s := range p.seen {
		latest = max(latest, s.version)
	}
	return latest
}

// isSeenBefore reports whether an answer before a time showed a version or a later one.
func (p *post) isSeenBefore(version int, by time.Duration) bool {
	return slices.ContainsFunc(p.seen, func(s sighting) bool { return s.version >= version && s.by.Completed < by })
}

// checkVersions checks that the edits of a post are in one order that agrees with all versions in
// answers.
func (c *checker) checkVersions(p *post) {
	c.checkRecency(p)
	for _, o := range p.edits {
		switch {
		case o.isDone():
			c.checkEdit(o)
		case o.Code == "CONFLICT":
			c.checkConflict(p, o)
		}
	}
	c.attribute(p, p.latestSeen())
}

// latestVersions returns the sightings of a post in the order of completion, each with the greatest
// version so far.
func (p *post) latestVersions() []sighting {
	if p.latest != nil {
		return p.latest
	}
	latest := slices.Clone(p.seen)
	slices.SortFunc(latest, func(a, b sighting) int { return cmp.Compare(a.by.Completed, b.by.Completed) })
	for i := range latest {
		latest[i].version = max(latest[i].version, latest[max(0, i-1)].version)
	}
	p.latest = latest
	return latest
}

// checkRecency checks that no answer shows an older version than an answer before it, except for
// reads that may lag.
func (c *checker) checkRecency(p *post) {
	latest := p.latestVersions()
	for _, s := range p.seen {
		if s.by.Kind == ReadFeed {
			continue
		}
		isFresh := func(f floor) bool { return f.version(latest) <= s.version }
		c.expect(c.floors(s.by, p.mutations), isFresh, StaleAnswer, "%v shows version %d of %s, after a later one was shown", s.by, s.version, p.id)
	}
}

// checkEdit checks the answer of an acknowledged edit. An edit that changes nothing may keep the
// version.
func (c *checker) checkEdit(o *Operation) {
	if o.Post == nil {
		return // deleted meanwhile
	}
	if o.Title != "" && o.Post.Title != o.Title || o.Content != "" && o.Post.Content != o.Content {
		c.report(WrongAnswer, "%v returned the texts %q and %q", o, o.Post.Title, o.Post.Content)
	}
	if o.Version > 0 && o.Post.Version != o.Version+1 && o.Post.Version != o.Version {
		c.report(LostUpdate, "%v returned version %d", o, o.Post.Version)
	}
}

// checkConflict checks that another edit justifies the code CONFLICT.
func (c *checker) checkConflict(p *post, o *Operation) {
	for _, other := range p.edits {
		if other != o && other.mayBeDone() && other.Invoked < o.Completed &&
			!(other.isDone() && other.Post != nil && other.Post.Version <= o.Version) {
			return
		}
	}
	c.report(Unjustified, "%v, but no other edit can have changed that version", o)
}

// attribute finds an edit for each version of a post.
func (c *checker) attribute(p *post, last int) {
	made := make([]*Operation, last+1) // the acknowledged edit of each version
	for _, o := range p.edits {
		if !o.isDone() || o.Post == nil || o.Post.Version > last || !p.explains(o, o.Post.Version) {
			continue // an edit that explains nothing changed nothing
		}
		v := o.Post.Version
		if other := made[v]; other != nil && other.Version > 0 && o.Version > 0 {
			c.report(LostUpdate, "%v and %v both made version %d of %s", other, o, v, p.id)
		}
		if made[v] == nil || o.Version > 0 {
			made[v] = o
		}
	}
	var unknown []*Operation
	for _, o := range p.edits {
		if o.Outcome == Unknown || o.isDone() && o.Post == nil {
			unknown = append(unknown, o)
		}
	}
	taken := map[*Operation]int{} // the version of each edit of unknown outcome
	for v := 2; v <= last; v++ {
		if made[v] == nil && !c.match(p, v, unknown, taken, map[*Operation]bool{}) {
			c.report(c.unmatchedRule(p, v), "version %d of %s has the texts %q, which no edit that may have been executed explains",
				v, p.id, p.states[v])
		}
	}
}

// match assigns an edit of unknown outcome to a version. It reassigns edits of other versions if
// necessary (augmenting paths, as in Kuhn's algorithm for bipartite matchings).
func (c *checker) match(p *post, version int, unknown []*Operation, taken map[*Operation]int, tried map[*Operation]bool) bool {
	for _, o := range unknown {
		if tried[o] || !p.explains(o, version) {
			continue
		}
		tried[o] = true
		if v := taken[o]; v == 0 || c.match(p, v, unknown, taken, tried) {
			taken[o] = version
			return true
		}
	}
	return false
}

// explains reports whether an edit may have made a version.
func (p *post) explains(o *Operation, version int) bool {
	if p.isSeenBefore(version, o.Invoked) {
		return false
	}
	is, was := p.states[version], p.states[version-1]
	return (o.Version == 0 || o.Version == version-1) &&
		explainsText(o.Title, was.title, is.title) && explainsText(o.Content, was.content, is.content)
}

// explainsText reports whether an edit to a text changes it from one to another. Empty texts are
// unknown, and an empty edit leaves the text as it was.
func explainsText(edit, was, is string) bool {
	if edit == "" {
		edit = was
	}
	return edit == "" || is == "" || edit == is
}

// unmatchedRule returns the rule that a version without an edit violates.
func (c *checker) unmatchedRule(p *post, version int) Rule {
	for _, o := range p.edits {
		is := p.states[version]
		if o.Outcome == Rejected && (o.Title != "" && o.Title == is.title || o.Content != "" && o.Content == is.content) {
			return RejectedWrite
		}
	}
	return LostUpdate
}
