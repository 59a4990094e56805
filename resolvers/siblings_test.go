package resolvers_test

import "testing"

// Fields below a comment's or like's post have no siblings: they are read alone.
func TestFieldsBelowReferencedPostAreReadAlone(t *testing.T) {
	s := newServer(t)
	ann, ben := s.user("Ann"), s.user("Ben")
	post := ann.post("Title", "Content")
	ben.comment(post, "Hi")
	ben.like(post)
	r := ben.ask(`query($p:ID!){post(id:$p){comments(first:1){nodes{post{author{creationDate}}}}}}`, "p", post)
	r.sent("post: posts read 200", "post.comments: posts query 200", "post.comments.nodes.0.post.author.creationDate: users read 200")
	if cosmos := r.Extensions.Cosmos; cosmos.RequestCharge > cosmos.Estimate {
		t.Errorf("charged %.2f RU, priced at %.2f", cosmos.RequestCharge, cosmos.Estimate)
	}
	r = ben.ask(`query($p:ID!){post(id:$p){likes(first:1){nodes{post{author{postCount}}}}}}`, "p", post)
	r.sent("post: posts read 200", "post.likes: posts query 200", "post.likes.nodes.0.post.author.postCount: users read 200")
}
