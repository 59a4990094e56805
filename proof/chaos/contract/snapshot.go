package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// checkFinalUsers checks which users exist, and their usernames.
func (c *checker) checkFinalUsers(s *Snapshot) {
	exists, bearers := map[string]User{}, map[string]User{}
	for _, u := range s.Users {
		exists[u.ID] = u
		username := normalized(u.Username)
		if other, ok := bearers[username]; ok {
			c.report(DuplicateUsername, "%q is the username of %s and of %s", username, other.ID, u.ID)
		}
		bearers[username] = u
		if s.Names[username] != u.ID {
			c.report(StaleUsername, "%s has the username %q, but by that username %q is found", u.ID, username, s.Names[username])
		}
		if c.users[u.ID] == nil {
			c.report(RejectedWrite, "nobody created the user %+v", u)
		}
	}
	for username, id := range s.Names {
		if normalized(exists[id].Username) != username {
			c.report(StaleUsername, "by the username %q, %s is found, who has %q", username, id, exists[id].Username)
		}
	}
	for _, a := range sorted(c.accounts) {
		c.checkFinalUser(a, exists[a.userID].Username)
	}
}

// checkFinalUser checks the username at the end, or its absence.
func (c *checker) checkFinalUser(a *account, username string) {
	for _, o := range a.reads {
		if o.isDone() && o.User != nil {
			a.username.witness(normalized(o.User.Username), o.Completed)
		}
	}
	if a.username.permits(normalized(username), forever, forever) {
		return
	}
	rule := RejectedWrite
	for _, o := range a.namings {
		if username == "" || o.mayBeDone() && normalized(o.Username) == normalized(username) {
			rule = WrongValue
		}
	}
	if rule == WrongValue && username != "" && a.username.isLast("") {
		rule = Resurrected
	}
	c.report(rule, "the user of %s has the username %q at the end; requests: %v", a.name, username, slices.Concat(a.namings, a.deletions))
}

// isLast reports whether only one value can be the last one.
func (r register) isLast(value string) bool {
	return r.permits(value, forever, forever) && !r.permitsOther(value, forever, forever)
}

// checkFinalPosts checks which posts, comments and likes exist, and their state.
func (c *checker) checkFinalPosts(s *Snapshot) {
	initial := map[string]*creation{} // by account and content, because each content is unique
	for _, made := range c.creations {
		initial[string(made.first.Kind)+made.first.Account+" "+made.first.Content] = made
	}
	found, shown := map[*creation]string{}, map[string]bool{}
	// identify returns the creation of an item in the snapshot.
	identify := func(kind Kind, id, content string, author User, known *creation) *creation {
		made := known
		if a := c.users[author.ID]; made == nil && a != nil {
			made = initial[string(kind)+a.name+" "+content]
		}
		switch {
		case made == nil || !made.mayBeDone:
			c.report(RejectedWrite, "%s %q by %s is there, but no request that may have been executed created it", id, content, author.Username)
		case found[made] != "" || made.id != "" && made.id != id:
			c.report(CreatedTwice, "%s and %s were both created by %v", cmp.Or(found[made], made.id), id, made.first)
		}
		if made != nil {
			found[made] = id
		}
		return made
	}
	for i := range s.Posts {
		p := &s.Posts[i]
		shown[p.ID] = true
		made := identify(CreatePost, p.ID, p.Content, p.Author, c.post(p.ID).creation)
		c.checkFinalPost(p, made)
		for _, m := range p.Comments {
			c.checkFinalComment(p, m, identify(CreateComment, m.ID, m.Content, m.Author, c.comment(m.ID).creation))
		}
		c.checkFinalLikes(p)
	}
	c.checkMissing(shown, found)
}

// checkMissing checks that no acknowledged post or comment is missing.
func (c *checker) checkMissing(shown map[string]bool, found map[*creation]string) {
	for _, made := range sorted(c.creations) {
		switch {
		case made.id == "" || found[made] != "":
		case made.first.Kind == CreatePost:
			if !c.mayBeGone(c.post(made.id), forever) {
				c.report(LostWrite, "%s is missing, created by %v", made.id, made.first)
			}
		case shown[made.first.PostID]:
			if !c.commentIsGoneBy(c.comment(made.id), forever) {
				c.report(LostWrite, "%s is missing, created by %v", made.id, made.first)
			}
		}
	}
}

func (c *checker) checkFinalPost(final *FinalPost, made *creation) {
	p := c.post(final.ID)
	if d := deletedBefore(p.deletions, forever); d != nil {
		c.report(Resurrected, "%s is there, but was deleted by %v", p.id, d)
	}
	if made != nil && made.completed < forever && c.author(made).hasEnded(made.invoked, made.completed) {
		c.report(Resurrected, "%s is there, but was deleted with its author %s", p.id, made.first.Account)
	}
	if latest := p.latestSeen(); final.Version < latest {
		c.report(LostWrite, "%s has version %d at the end, but version %d was shown", p.id, final.Version, latest)
	}
	if made != nil {
		p.states[1] = state{made.first.Title, made.first.Content}
	}
	c.addState(p, &final.Post, stringer("the last state"))
	c.attribute(p, final.Version)
	for _, o := range p.edits {
		if o.Code == "CONFLICT" && o.Version >= final.Version {
			c.report(Unjustified, "%v, but the last version is %d", o, final.Version)
		}
	}
	if (final.UpdatedDate == nil) != (final.Version == 1) {
		c.report(WrongValue, "%s has version %d and was updated %v", p.id, final.Version, final.UpdatedDate)
	}
}

type stringer string

func (s stringer) String() string { return string(s) }

func (c *checker) checkFinalComment(p *FinalPost, final Comment, made *creation) {
	m := c.comment(final.ID)
	if d := deletedBefore(m.deletions, forever); d != nil {
		c.report(Resurrected, "%s is there, but was deleted by %v", m.id, d)
	}
	if made == nil {
		return
	}
	if made.first.PostID != p.ID {
		c.report(WrongValue, "%s is on %s, but was created on %s", m.id, p.ID, made.first.PostID)
	}
	if made.completed < forever && c.author(made).hasEnded(made.invoked, made.completed) {
		c.report(Resurrected, "%s is there, but was deleted with its author %s", m.id, made.first.Account)
	}
	if content := m.content(); m.creation != nil && !content.permits(final.Content, forever, forever) {
		c.report(c.contentRule(m, final.Content, WrongValue), "%s is %q at the end; edits: %v", m.id, final.Content, m.edits)
	}
}

// checkFinalLikes checks the list of a post's likes.
func (c *checker) checkFinalLikes(final *FinalPost) {
	p, likes := c.post(final.ID), map[string]bool{}
	for _, u := range final.Likes {
		if likes[u.ID] {
			c.report(DoubleLike, "%s likes %s twice", u.ID, p.id)
		}
		likes[u.ID] = true
		if a := c.users[u.ID]; a == nil || p.likes[a.name] == nil {
			c.report(RejectedWrite, "%s is liked by %s, who never requested it", p.id, u.ID)
		}
	}
	for name, l := range p.likes {
		c.checkFinalLike(p, c.account(name), l, likes[c.account(name).userID])
	}
}

func (c *checker) checkFinalLike(p *post, a *account, l *likeRegister, isThere bool) {
	mayBeLiked := false // in the present life
	mayHaveEnded := false
	for _, o := range l.operations {
		if o.Kind == LikePost && o.mayBeDone() {
			mayBeLiked = mayBeLiked || !a.hasEnded(o.Invoked, o.end())
			mayHaveEnded = mayHaveEnded || a.mayHaveEnded(o.Invoked, forever)
		}
	}
	isPermitted := l.permits(strconv.FormatBool(isThere), forever, forever)
	switch {
	case isThere && (!isPermitted || !mayBeLiked):
		rule := Resurrected
		if !l.has(floor{at: forever}, forever, func(v string) bool { return v == "true" }) && len(l.register) == 1 {
			rule = RejectedWrite
		}
		c.report(rule, "%s likes %s at the end; requests: %v", a.name, p.id, l.operations)
	case !isThere && !isPermitted && !mayHaveEnded:
		c.report(LostWrite, "%s does not like %s at the end; requests: %v", a.name, p.id, l.operations)
	}
}

// feedLength is the number of posts in the feed.
const feedLength = 100

// checkViews checks the feed, the lists of posts, all counts, and all copies of usernames.
func (c *checker) checkViews(s *Snapshot) {
	usernames := map[string]string{}
	for _, u := range s.Users {
		usernames[u.ID] = u.Username
	}
	var posts []Post
	for _, p := range s.Posts {
		posts = append(posts, p.Post)
		if p.CommentCount != len(p.Comments) || p.LikeCount != len(p.Likes) {
			c.report(WrongCount, "%s has %d comments and %d likes, but counts %d and %d",
				p.ID, len(p.Comments), len(p.Likes), p.CommentCount, p.LikeCount)
		}
		c.checkRecentComments(p)
		c.checkCopy(usernames, "the post "+p.ID, p.Author)
		for _, m := range p.Comments {
			c.checkCopy(usernames, "the comment "+m.ID, m.Author)
		}
		for _, u := range p.Likes {
			c.checkCopy(usernames, "a like of "+p.ID, u)
		}
	}
	slices.SortFunc(posts, newestFirst)
	c.checkList("the feed", s.Feed, posts[:min(feedLength, len(posts))])
	for _, u := range s.Users {
		own := slices.DeleteFunc(slices.Clone(posts), func(p Post) bool { return p.Author.ID != u.ID })
		c.checkList("the list of "+u.ID, s.Lists[u.ID], own)
		if u.PostCount != len(own) {
			c.report(WrongCount, "%s has %d posts, but the post count %d", u.ID, len(own), u.PostCount)
		}
	}
}

// maxRecentComments is the number of comments that a post shows.
const maxRecentComments = 3

// checkRecentComments compares the comments that a post shows with its newest comments.
func (c *checker) checkRecentComments(p FinalPost) {
	comments := slices.Clone(p.Comments)
	slices.SortFunc(comments, func(a, b Comment) int {
		return cmp.Or(b.CreationDate.Compare(a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	var want []RecentComment
	for _, m := range comments[:min(len(comments), maxRecentComments)] {
		want = append(want, RecentComment{m.ID, m.Excerpt, m.Author})
	}
	if !slices.Equal(p.RecentComments, want) {
		c.report(WrongView, "%s shows the comments %v, but its newest are %v", p.ID, p.RecentComments, want)
	}
}

func newestFirst(a, b Post) int {
	return cmp.Or(b.CreationDate.Compare(a.CreationDate), cmp.Compare(b.ID, a.ID))
}

func (c *checker) checkCopy(usernames map[string]string, place string, u User) {
	switch name, ok := usernames[u.ID]; {
	case !ok:
		c.report(LeftOver, "%s is by %s, who does not exist", place, u.ID)
	case name != u.Username:
		c.report(StaleUsername, "%s shows the username %q of %s, who has %q", place, u.Username, u.ID, name)
	}
}

// checkOrder checks that a list shows each post once, newest first.
func (c *checker) checkOrder(list string, posts []Post) {
	for i := range posts[:max(0, len(posts)-1)] {
		if newestFirst(posts[i], posts[i+1]) >= 0 {
			c.report(WrongView, "%s has %s before %s", list, posts[i].ID, posts[i+1].ID)
		}
	}
}

// checkList reports the first difference between a list and the posts that it must have.
func (c *checker) checkList(list string, got, want []Post) {
	c.checkOrder(list, got)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			c.report(WrongView, "%s has %d posts, without %s", list, len(got), short(want[i]))
			return
		case i >= len(want):
			c.report(WrongView, "%s has the surplus post %s", list, short(got[i]))
			return
		case short(got[i]) != short(want[i]):
			c.report(WrongView, "%s has at %d %s, want %s", list, i, short(got[i]), short(want[i]))
			return
		}
	}
}

// short formats the parts of a post that lists copy.
func short(p Post) string {
	updated := "never"
	if p.UpdatedDate != nil {
		updated = p.UpdatedDate.String()
	}
	return fmt.Sprintf("%s %q %q of %d by %s %s, %d comments %v, %d likes, version %d of %v, updated %s", p.ID, p.Title, p.Excerpt, p.ContentLength,
		p.Author.ID, p.Author.Username, p.CommentCount, p.RecentComments, p.LikeCount, p.Version, p.CreationDate, updated)
}
