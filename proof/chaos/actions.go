package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cosmosblog/proof/chaos/contract"
)

// action is something that a person does. share is its frequency.
type action struct {
	share int
	do    func(*person, context.Context)
}

var actions = []action{
	{900, (*person).createPost},
	{2000, (*person).updatePost},
	{100, (*person).updateOtherPost},
	{200, (*person).deletePost},
	{1200, (*person).createComment},
	{700, (*person).updateComment},
	{300, (*person).deleteComment},
	{1200, (*person).likePost},
	{900, (*person).unlikePost},
	{400, (*person).updateUser},
	{4, (*person).deleteUser},
	{1500, (*person).readPost},
	{300, func(p *person, ctx context.Context) { p.try(ctx, contract.Operation{Kind: contract.ReadViewer}) }},
	{400, (*person).readComment},
	{100, func(p *person, ctx context.Context) { p.try(ctx, contract.Operation{Kind: contract.ReadFeed}) }},
}

var totalShare = func() (total int) {
	for _, a := range actions {
		total += a.share
	}
	return total
}()

// key returns an idempotency key. Some requests are sent without one, and are then not repeated.
func (p *person) key() string {
	key := fmt.Sprint("key ", p.record.next())
	if p.random.IntN(5) == 0 {
		return contract.WithoutKey + key
	}
	return key
}

// text returns a new text, or one that other edits use too.
func (p *person) text() string {
	if p.random.IntN(3) == 0 {
		return string(rune('A' + p.random.IntN(3)))
	}
	return p.newText()
}

// longContent is more than the server stores on a post. It makes the content an item of its own.
const longContent = 9 << 10

// content returns a text, or in one of three cases a long content that begins with it.
func (p *person) content(text string) string {
	if p.random.IntN(3) > 0 {
		return text
	}
	return text + strings.Repeat(" and so on", longContent/10)
}

func (p *person) newText() string { return fmt.Sprint("text ", p.record.next()) }

// username returns a username that this account or any may request, in lower or upper case.
func (p *person) username() string {
	name := fmt.Sprintf("%s-%d", p.account, p.random.IntN(3))
	if p.random.IntN(2) == 0 {
		name = fmt.Sprintf("shared-%d", p.random.IntN(8))
	}
	if p.random.IntN(4) == 0 {
		return strings.ToUpper(name)
	}
	return name
}

// signUp creates the user of the account. While a former user is being deleted, it waits.
func (p *person) signUp(ctx context.Context) {
	done := p.perform(ctx, contract.Operation{Kind: contract.CreateUser, Username: p.username()})
	switch done.Code {
	case "ACCOUNT_HAS_USER":
		p.try(ctx, contract.Operation{Kind: contract.ReadViewer})
	case "DELETION_UNDER_WAY":
		wait(ctx, time.Second)
	}
}

// updateUser renames the user, and sometimes back at once.
func (p *person) updateUser(ctx context.Context) {
	former := p.record.profile(p.account).username
	done := p.perform(ctx, contract.Operation{Kind: contract.UpdateUser, Username: p.username()})
	if done.Outcome == contract.Acknowledged && p.random.IntN(3) == 0 {
		p.perform(ctx, contract.Operation{Kind: contract.UpdateUser, Username: former})
	}
}

// deleteUser deletes the user, sometimes after a rename, and looks at what is left in the feed.
func (p *person) deleteUser(ctx context.Context) {
	if p.random.IntN(2) == 0 {
		p.updateUser(ctx)
	}
	username := p.record.profile(p.account).username
	p.perform(ctx, contract.Operation{Kind: contract.DeleteUser, Username: username})
	p.try(ctx, contract.Operation{Kind: contract.ReadFeed})
}

func (p *person) createPost(ctx context.Context) {
	p.perform(ctx, contract.Operation{Kind: contract.CreatePost, Key: p.key(), Title: p.text(), Content: p.content(p.newText())})
}

// updatePost edits a post of the account, and sometimes back at once.
func (p *person) updatePost(ctx context.Context) {
	post, version, ok := p.record.randomPost(p.account, true, p.random)
	if !ok {
		return
	}
	edit := contract.Operation{Kind: contract.UpdatePost, PostID: post.id}
	kind := p.random.IntN(3)
	if kind < 2 {
		edit.Title = p.text()
	}
	if kind > 0 {
		edit.Content = p.content(p.text())
	}
	if p.random.IntN(3) > 0 {
		edit.Version = version
	}
	done := p.perform(ctx, edit)
	if done.Post == nil || p.random.IntN(4) > 0 {
		return
	}
	for _, title := range []string{p.text(), done.Post.Title} {
		p.perform(ctx, contract.Operation{Kind: contract.UpdatePost, PostID: post.id, Title: title})
	}
}

// updateOtherPost tries to edit any post.
func (p *person) updateOtherPost(ctx context.Context) {
	if post, _, ok := p.record.randomPost(p.account, false, p.random); ok {
		p.perform(ctx, contract.Operation{Kind: contract.UpdatePost, PostID: post.id, Title: p.newText()})
	}
}

func (p *person) deletePost(ctx context.Context) {
	if post, _, ok := p.record.randomPost(p.account, true, p.random); ok {
		p.perform(ctx, contract.Operation{Kind: contract.DeletePost, PostID: post.id})
	}
}

func (p *person) createComment(ctx context.Context) {
	if post, _, ok := p.record.randomPost(p.account, false, p.random); ok {
		p.perform(ctx, contract.Operation{Kind: contract.CreateComment, Key: p.key(), PostID: post.id, Content: p.newText()})
	}
}

// updateComment edits a comment of the account, and sometimes back at once.
func (p *person) updateComment(ctx context.Context) {
	c, ok := p.record.randomComment(p.account, true, p.random)
	if !ok {
		return
	}
	edit := contract.Operation{Kind: contract.UpdateComment, CommentID: c.id, PostID: c.postID, Content: p.text()}
	if p.perform(ctx, edit).Outcome == contract.Acknowledged && p.random.IntN(3) == 0 {
		back := edit
		edit.Content = p.text()
		p.perform(ctx, edit)
		p.perform(ctx, back)
	}
}

// deleteComment deletes a comment of the account, or tries to delete any.
func (p *person) deleteComment(ctx context.Context) {
	if c, ok := p.record.randomComment(p.account, p.random.IntN(2) == 0, p.random); ok {
		p.perform(ctx, contract.Operation{Kind: contract.DeleteComment, CommentID: c.id, PostID: c.postID})
	}
}

func (p *person) likePost(ctx context.Context)   { p.onPost(ctx, contract.LikePost) }
func (p *person) unlikePost(ctx context.Context) { p.onPost(ctx, contract.UnlikePost) }

func (p *person) onPost(ctx context.Context, kind contract.Kind) {
	if post, _, ok := p.record.randomPost(p.account, false, p.random); ok {
		p.perform(ctx, contract.Operation{Kind: kind, PostID: post.id})
	}
}

func (p *person) readPost(ctx context.Context) {
	if post, _, ok := p.record.randomPost(p.account, false, p.random); ok {
		p.try(ctx, contract.Operation{Kind: contract.ReadPost, PostID: post.id})
	}
}

func (p *person) readComment(ctx context.Context) {
	if c, ok := p.record.randomComment(p.account, false, p.random); ok {
		p.try(ctx, contract.Operation{Kind: contract.ReadComment, CommentID: c.id, PostID: c.postID})
	}
}
