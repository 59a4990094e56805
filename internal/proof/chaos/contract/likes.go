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
		a, from := c.account(o.Account), o.Invoked-c.lag(o)
		isPermitted := p.like(o.Account).permits(strconv.FormatBool(*o.Liked), from, o.Completed)
		if !isPermitted && (*o.Liked || !a.mayHaveEnded(-1, o.Completed)) {
			c.report(StaleAnswer, "%v shows viewerHasLiked=%t", o, *o.Liked)
		}
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
		from := o.Invoked - c.lag(o)
		if b := c.likesBetween(p, from, o.Completed); !b.include(o.Post.LikeCount) {
			c.report(WrongCount, "%v shows %d likes of %s, want %d to %d", o, o.Post.LikeCount, p.id, b.least, b.most)
		}
		if b := c.commentsBetween(p, from, o.Completed); !b.include(o.Post.CommentCount) {
			c.report(WrongCount, "%v shows %d comments on %s, want %d to %d", o, o.Post.CommentCount, p.id, b.least, b.most)
		}
	}
}

// likesBetween returns how many users may have liked a post at a moment between two times.
func (c *checker) likesBetween(p *post, from, until time.Duration) bounds {
	var b bounds
	for name, l := range p.likes {
		if !l.permits("true", from, until) {
			continue
		}
		b.most++
		if !l.permits("false", from, until) && !c.account(name).mayHaveEnded(-1, until) {
			b.least++
		}
	}
	return b
}

// commentsBetween returns how many comments a post may have had at a moment between two times.
func (c *checker) commentsBetween(p *post, from, until time.Duration) bounds {
	var b bounds
	for _, made := range p.comments {
		if !made.mayBeDone || made.invoked >= until {
			continue
		}
		var m *comment
		if made.id != "" {
			m = c.comment(made.id)
			if deletedBefore(m.deletions, from) != nil {
				continue
			}
		}
		b.most++
		if m != nil && made.completed < from && !c.commentIsGoneBy(m, until) {
			b.least++
		}
	}
	return b
}
