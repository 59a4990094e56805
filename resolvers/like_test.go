package resolvers_test

import (
	"sync"
	"testing"

	"cosmosblog/blog"
)

const (
	likePost   = `mutation($p:ID!){likePost(input:{postId:$p}){like{id creationDate user{id username} post{id}} post{id title likeCount viewerHasLiked}}}`
	unlikePost = `mutation($p:ID!){unlikePost(input:{postId:$p}){post{id title likeCount viewerHasLiked}}}`
	readLikes  = `query($p:ID!,$n:Int,$a:String){post(id:$p){likeCount likes(first:$n,after:$a){
		nodes{id user{id username} post{id likeCount}} edges{cursor} pageInfo{hasNextPage endCursor}}}}`
)

func TestLikePost(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	r := bob.ask(likePost, "p", post)
	r.is("likePost.like.user.username", "Bob")
	r.is("likePost.post.title", "Title")
	r.is("likePost.post.likeCount", 1)
	r.sent("likePost: users read 200", "likePost: posts execute 200")
	r.is("likePost.post.viewerHasLiked", true)
	again := bob.ask(likePost, "p", post)
	again.is("likePost.like.id", r.at("likePost.like.id"))
	again.is("likePost.post.likeCount", 1)

	bob.rejected(blog.NotFound, likePost, "p", noPost)
	bob.rejected(blog.BadUserInput, likePost, "p", bob.id)
	s.anonymous().rejected(blog.Unauthenticated, likePost, "p", post)
	s.account("carl").rejected(blog.UserRequired, likePost, "p", post)
}

func TestUnlikePost(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	like := bob.like(post)
	r := bob.ask(unlikePost, "p", post)
	r.is("unlikePost.post.likeCount", 0)
	r.is("unlikePost.post.title", "Title")
	r.is("unlikePost.post.viewerHasLiked", false)
	r.sent("unlikePost: users read 200", "unlikePost: posts execute 200")
	bob.ask(unlikePost, "p", post).is("unlikePost.post.likeCount", 0)
	s.anonymous().ask(`query($id:ID!){node(id:$id){id}}`, "id", like).is("node", nil)
	bob.ask(likePost, "p", post).is("likePost.like.id", like)
	bob.rejected(blog.NotFound, unlikePost, "p", noPost)
	s.anonymous().rejected(blog.Unauthenticated, unlikePost, "p", post)
}

func TestLikes(t *testing.T) {
	s := newServer(t)
	ann, bob, carl := s.user("Ann"), s.user("Bob"), s.user("Carl")
	post := ann.post("Title", "Content")
	for _, c := range []*client{ann, bob, carl} {
		c.like(post)
	}
	r := s.anonymous().ask(readLikes, "p", post, "n", 2)
	r.is("post.likeCount", 3)
	r.is("post.likes.nodes.0.user.username", "Carl")
	r.is("post.likes.nodes.1.user.id", bob.id)
	r.is("post.likes.nodes.1.post.likeCount", 3)
	r.is("post.likes.pageInfo.hasNextPage", true)
	r.sent("post: posts read 200", "post.likes: posts query 200")
	r = s.anonymous().ask(readLikes, "p", post, "n", 2, "a", r.text("post.likes.pageInfo.endCursor"))
	r.is("post.likes.nodes.#", 1)
	r.is("post.likes.nodes.0.user.username", "Ann")
	r.is("post.likes.pageInfo.hasNextPage", false)
}

func TestConcurrentLikesCountOnce(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if r := bob.send(likePost, "p", post); len(r.Errors) > 0 {
				t.Errorf("a like: %v", r.Errors)
			}
		})
	}
	wg.Wait()
	r := s.anonymous().ask(readLikes, "p", post)
	r.is("post.likeCount", 1)
	r.is("post.likes.nodes.#", 1)
}

func TestConcurrentCommentsAllCount(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			r := ann.send(createComment, "p", post, "c", "Hi")
			for retriesConflicts() && len(r.Errors) > 0 && r.Errors[0].Extensions["code"] == string(blog.Throttled) {
				r = ann.send(createComment, "p", post, "c", "Hi")
			}
			if len(r.Errors) > 0 {
				t.Errorf("a comment: %v", r.Errors)
			}
		})
	}
	wg.Wait()
	r := s.anonymous().ask(readComments, "p", post, "n", 100)
	r.is("post.commentCount", 50)
	r.is("post.comments.nodes.#", 50)
}
