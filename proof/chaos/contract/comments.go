package contract

import (
	"slices"
	"time"
)

// comment is everything that happened to a comment.
type comment struct {
	id        string
	creation  *creation // nil if no request that creates it was acknowledged
	edits     []*Operation
	deletions []*Operation
	reads     []*Operation
}

// commentIsGoneBy reports whether a comment may have been deleted by a time, by itself, with its
// post or with its author.
func (c *checker) commentIsGoneBy(m *comment, by time.Duration) bool {
	for _, d := range m.deletions {
		if d.mayBeDone() && d.Invoked < by {
			return true
		}
	}
	return m.creation == nil || c.author(m.creation).mayHaveEnded(m.creation.invoked, by) ||
		c.mayBeGone(c.post(m.creation.first.PostID), by)
}

// content returns the register of a comment's text. The last edit wins.
func (m *comment) content() register {
	var r register
	if m.creation != nil {
		r = register{{m.creation.first.Content, m.creation.invoked, m.creation.completed, true, nil}}
	}
	for _, o := range m.edits {
		r.add(o, o.Content)
	}
	for _, o := range m.reads {
		if o.isDone() && o.Comment != nil {
			r.witness(o.Comment.Content, o.Completed)
		}
	}
	return r
}

// checkComment checks the answers of all requests for a comment.
func (c *checker) checkComment(m *comment) {
	if m.creation != nil {
		c.checkNewComment(m)
	}
	content := m.content()
	for _, o := range slices.Concat(m.edits, m.deletions) {
		c.checkWriteToComment(m, content, o)
	}
	for _, o := range m.reads {
		floors := c.floors(o, c.post(c.postOf(m)).mutations)
		c.checkRead(o, floors, o.Comment == nil, m.creation, m.deletions, func(by time.Duration) bool { return c.commentIsGoneBy(m, by) })
		if !o.isDone() || o.Comment == nil || m.creation == nil {
			continue
		}
		permits := func(f floor) bool { return content.permitsAfter(o.Comment.Content, f, o.Completed) }
		c.expect(floors, permits, c.contentRule(m, o.Comment.Content, StaleAnswer), "%v shows %s with %q", o, m.id, o.Comment.Content)
		c.checkAuthor(o, o.Comment.Author, m.creation)
	}
}

// postOf returns the id of a comment's post, or "" if it is not known.
func (c *checker) postOf(m *comment) string {
	if m.creation == nil {
		return ""
	}
	return m.creation.first.PostID
}

// contentRule returns the rule that a wrong text violates.
func (c *checker) contentRule(m *comment, content string, otherwise Rule) Rule {
	if m.content().permits(content, -1, forever) || slices.ContainsFunc(m.edits, func(o *Operation) bool {
		return o.mayBeDone() && o.Content == content
	}) {
		return otherwise
	}
	return RejectedWrite
}

// checkNewComment checks that a new comment was not acknowledged on a deleted post. A repeated
// request returns the comment in its present state.
func (c *checker) checkNewComment(m *comment) {
	if d := deletedBefore(c.post(m.creation.first.PostID).deletions, m.creation.invoked); d != nil {
		c.report(WriteToDeleted, "%v, after %v", m.creation.first, d)
	}
}

// checkWriteToComment checks the answer to an edit or a deletion. A repeated edit returns the
// comment in its present state, perhaps after a later edit.
func (c *checker) checkWriteToComment(m *comment, content register, o *Operation) {
	if d := deletedBefore(m.deletions, o.Invoked); o.Kind == UpdateComment && o.isDone() && d != nil {
		c.report(WriteToDeleted, "%v, after %v", o, d)
	}
	if o.Code == "NOT_FOUND" && !c.commentIsGoneBy(m, o.Completed) {
		c.report(Unjustified, "%v, but nobody can have deleted the comment", o)
	}
	if o.Kind == UpdateComment && o.isDone() &&
		(o.Comment == nil || o.Comment.Content != o.Content && !content.permits(o.Comment.Content, o.Invoked, o.Completed)) {
		c.report(WrongAnswer, "%v returned the comment %+v", o, o.Comment)
	}
	if m.creation == nil {
		return
	}
	isAllowed := m.creation.first.Account == o.Account
	if p := c.post(m.creation.first.PostID); o.Kind == DeleteComment && !isAllowed {
		isAllowed = p.creation == nil || p.creation.first.Account == o.Account
	}
	if o.isDone() && !isAllowed {
		c.report(Forbidden, "%v, but the comment is by %s", o, m.creation.first.Account)
	}
	if o.Code == "FORBIDDEN" && isAllowed {
		c.report(Unjustified, "%v, but this account may do that", o)
	}
}
