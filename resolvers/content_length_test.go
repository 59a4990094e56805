package resolvers_test

import (
	"fmt"
	"strings"
	"testing"
)

// contentLength counts the characters of the content, not its bytes, also if it is long. Edits
// change it with the content. All copies of the post have it.
func TestContentLength(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.tagged("Title", "go")
	const edit = `mutation($p:ID!,$t:String,$c:String){updatePost(input:{id:$p,title:$t,content:$c}){post{contentLength}}}`
	const read = `query($p:ID!,$u:ID!,$m:String!){
		post(id:$p){contentLength}
		feed{nodes{contentLength}}
		user(id:$u){posts{nodes{contentLength}}}
		tag(name:"go"){posts{nodes{contentLength}}}
		archive(month:$m){posts{nodes{contentLength}}}
	}`
	month := s.anonymous().ask(`{archiveMonths{month}}`).text("archiveMonths.0.month")
	checkCopies := func(want int) {
		t.Helper()
		s.project(post)
		r := s.anonymous().ask(read, "p", post, "u", ann.id, "m", month)
		for _, path := range []string{"post", "feed.nodes.0", "user.posts.nodes.0", "tag.posts.nodes.0", "archive.posts.nodes.0"} {
			r.is(path+".contentLength", want)
		}
	}
	checkCopies(len("Content of Title"))
	for _, edited := range []struct {
		content string
		want    int
	}{
		{"né 日記 🚀", 7},
		{strings.Repeat("é", 10_000), 10_000}, // an item of its own
		{"short", 5},
	} {
		ann.ask(edit, "p", post, "c", edited.content).is("updatePost.post.contentLength", edited.want)
		checkCopies(edited.want)
		ann.ask(edit, "p", post, "t", fmt.Sprint("Title ", edited.want)).is("updatePost.post.contentLength", edited.want)
		ann.like(post)
		checkCopies(edited.want)
	}
	const create = `mutation($c:String!){createPost(input:{title:"Title",content:$c}){post{contentLength}}}`
	ann.ask(create, "c", "né 日記 🚀").is("createPost.post.contentLength", 7)
}
