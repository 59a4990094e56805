package contract

import (
	"strconv"
	"time"
)

// likeRegister is the like of one account on one post: "true" or "false".
type likeRegister struct {
	register
	operations []*Operation
}

func (p *post) like(account string) *likeRegister {
	l := p.likes[account]
	if l == nil {
		l = &likeRegister{register: newRegister("false")}
		p.likes[account] = l
	}
	return l
}

func (l *likeRegister) add(o *Operation) {
	l.operations = append(l.operations, o)
	l.register.add(o, strconv.FormatBool(o.Kind == LikePost))
}

// checkLikes checks what viewers are told about their own likes.
func (c *checker) checkLikes(p *post) {
	for _, o := range p.reads {
		if !o.isDone() || o.Liked == nil {
			continue
		}
		permits := func(f floor) bool {
			return p.like(o.Account).permitsAfter(strconv.FormatBool(*o.Liked), f, o.Completed) ||
				!*o.Liked && c.account(o.Account).mayHaveEnded(-1, o.Completed)
		}
		c.expect(c.floors(o, p.mutations), permits, StaleAnswer, "%v shows viewerHasLiked=%t", o, *o.Liked)
	}
}

// bounds are the least and the greatest number of something.
type bounds struct{ least, most int }

func (b bounds) include(n int) bool { return b.least <= n && n <= b.most }

// checkCounts checks the counts in the answers of a post. Counts are exact: they change together
// with what they count.
func (c *checker) checkCounts(p *post) {
	for _, s := range p.seen {
		o := s.by
		if o.Post == nil || o.Kind == DeletePost {
			continue
		}
		if o.Kind == LikePost && o.Post.LikeCount == 0 || o.Kind == CreateComment && o.Post.CommentCount == 0 {
			c.report(WrongAnswer, "%v returned %d likes and %d comments", o, o.Post.LikeCount, o.Post.CommentCount)
		}
		c.expectCounts(o, o.Post, c.floors(o, p.mutations), WrongCount)
	}
}

// expectCounts checks the counts of a post in an answer.
func (c *checker) expectCounts(o *Operation, shown *Post, floors []floor, rule Rule) {
	p := c.post(shown.ID)
	for i, f := range floors {
		if i > 0 {
			rule = MissedOwnWrite
		}
		if b := c.likesBetween(p, f, o.Completed); !b.include(shown.LikeCount) {
			c.report(rule, "%v shows %d likes of %s, want %d to %d; own writes: %v", o, shown.LikeCount, p.id, b.least, b.most, f.own)
			return
		}
		if b := c.commentsBetween(p, f, o.Completed); !b.include(shown.CommentCount) {
			c.report(rule, "%v shows %d comments on %s, want %d to %d; own writes: %v", o, shown.CommentCount, p.id, b.least, b.most, f.own)
			return
		}
	}
}

// likesBetween returns how many users may have liked a post in a state that includes a floor, and
// nothing after a time.
func (c *checker) likesBetween(p *post, f floor, until time.Duration) bounds {
	var b bounds
	for name, l := range p.likes {
		if !l.permitsAfter("true", f, until) {
			continue
		}
		b.most++
		if !l.permitsAfter("false", f, until) && !c.account(name).mayHaveEnded(-1, until) {
			b.least++
		}
	}
	return b
}

// commentsBetween returns how many comments a post may have had in a state that includes a floor,
// and nothing after a time.
func (c *checker) commentsBetween(p *post, f floor, until time.Duration) bounds {
	var b bounds
	for _, made := range p.comments {
		if !made.mayBeDone || made.invoked >= until {
			continue
		}
		var m *comment
		if made.id != "" {
			m = c.comment(made.id)
			if f.deletion(m.deletions) != nil {
				continue
			}
		}
		b.most++
		if m != nil && f.includesCreation(c, made) && !c.commentIsGoneBy(m, until) {
			b.least++
		}
	}
	return b
}
