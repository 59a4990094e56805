package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"cosmosblog/store/seed"
)

// idForms are the forms of ids by type. The last character of a part holds three bits.
var idForms = map[string]*regexp.Regexp{
	"User":    regexp.MustCompile(`^u_[a-z2-7]{25}[aeimquy4]$`),
	"Post":    regexp.MustCompile(`^p_[a-z2-7]{25}[aeimquy4]$`),
	"Comment": regexp.MustCompile(`^c_[a-z2-7]{25}[aeimquy4]\.p_[a-z2-7]{25}[aeimquy4]$`),
	"Like":    regexp.MustCompile(`^l_[a-z2-7]{25}[aeimquy4]\.p_[a-z2-7]{25}[aeimquy4]$`),
}

// idsOf returns an id of each type.
func (s *site) idsOf() map[string]string {
	s.Helper()
	user := s.must("Ann", `{viewer{id}}`)
	return map[string]string{"User": user, "Post": s.post, "Comment": s.comment, "Like": s.like}
}

// TestIDs checks that ids are the stored ids, and that node finds each object by its id.
func TestIDs(t *testing.T) {
	s := newSite(t, false)
	ids := s.idsOf()
	for kind, id := range ids {
		if !idForms[kind].MatchString(id) || len(id) > 64 || !strings.Contains(kind, "e") && len(id) > 32 {
			t.Errorf("the id of a %s is %q", kind, id)
		}
		want := `{"node":{"__typename":"` + kind + `","id":"` + id + `"}}`
		if r := s.queryAs("", `query($i:ID!){node(id:$i){__typename id}}`, "i", id); string(r.Data) != want {
			t.Errorf("%s %s: %s", kind, id, r.Body)
		}
	}
	bob := s.must("Bob", `{viewer{id}}`)
	if want := "l_" + strings.TrimPrefix(bob, "u_") + "." + s.post; s.like != want {
		t.Errorf("the like's id is %q, want %q", s.like, want)
	}
	if !strings.HasSuffix(s.comment, "."+s.post) {
		t.Errorf("the comment's id %q does not end with its post's", s.comment)
	}
}

// malformedIDs returns texts that are close to an id, but are none.
func malformedIDs(id string) []string {
	last := id[len(id)-1:]
	other := string("abcdefghijklmnopqrstuvwxyz234567"[strings.Index("abcdefghijklmnopqrstuvwxyz234567", last)+1])
	malformed := []string{
		"", id[1:], id[:len(id)-1], id + "a", id + "=", id + "\n", " " + id, id + " ", id + "\x00", id + ".", "." + id, id + ".." + id,
		id[:len(id)-1] + other, // the same bytes, if the rest of the last character were ignored
		strings.ToUpper(id), strings.ToUpper(id[:1]) + id[1:], strings.Replace(id, "_", "-", 1), strings.Replace(id, "_", "", 1), "x" + id[1:],
		id[:5] + "1" + id[6:], id[:5] + "/" + id[6:], id[:5] + "." + id[6:], id[:5] + "%" + id[6:], id[:5] + "é" + id[7:],
		id + "." + id, id + ".p_" + strings.Repeat("a", 26) + ".p_" + strings.Repeat("a", 26), id + "/..", "../" + id,
	}
	if item, post, ok := strings.Cut(id, "."); ok {
		malformed = append(malformed, item, "."+post, item+".", item+"."+item, post+"."+item, post+"."+post, item+post, item+":"+post, item+"..", item+"...",
			item+"."+post[2:], item+".u_"+post[2:], "u_"+item[2:]+"."+post)
	} else {
		malformed = append(malformed, "c_"+id[2:], "l_"+id[2:], id+".p_"+id[2:])
	}
	return append(malformed, ".", "..", "u_", "p_", "u_.", "p_..", "c_..p_.", "l_...", "users", "post", "UG9zdDouLjouLg", strings.Repeat("a", 5000))
}

// TestMalformedIDs checks that a text in any other form is rejected before a request is sent to
// the database.
func TestMalformedIDs(t *testing.T) {
	s := newSite(t, false)
	ids := s.idsOf()
	var requests atomic.Int64
	s.intercept = func(http.ResponseWriter, *http.Request) bool { requests.Add(1); return false }
	queries := map[string]string{
		"node":  `query($i:ID!){node(id:$i){id}}`,
		"nodes": `query($i:ID!){nodes(ids:[$i]){id}}`,
		"post":  `query($i:ID!){post(id:$i){id}}`,
		"user":  `query($i:ID!){user(id:$i){id}}`,
	}
	for _, id := range ids {
		for _, malformed := range malformedIDs(id) {
			for name, query := range queries {
				if r := s.queryAs("", query, "i", malformed); r.codes() != "BAD_USER_INPUT" {
					t.Errorf("%s of %q: %s", name, malformed, r.Body)
				}
			}
		}
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("%d requests were sent to the database", n)
	}
}

// TestCursors checks the form of cursors, and that each continues its list.
func TestCursors(t *testing.T) {
	s := newSite(t, false)
	set := seed.New("cursors", 1, 2) // with the views, because no projector runs
	if err := set.Write(t.Context(), s.db, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.must("Bob", `mutation($p:ID!){createComment(input:{postId:$p,content:"Hm"}){comment{id}}}`, "p", s.post)
	}
	s.must("Ann", `mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, "p", s.post)
	for _, c := range []struct {
		field        string
		length, want int // of each cursor; number of elements to read
	}{
		{`feed(first:1,after:$after)`, 32, 5},
		{`user(id:"` + set.User(0).ID + `"){posts(first:1,after:$after)`, 36, 5},
		{`post(id:"` + s.post + `"){comments(first:1,after:$after)`, 36, 3},
		{`post(id:"` + s.post + `"){likes(first:1,after:$after)`, 36, 2},
	} {
		query := `query($after:String){` + c.field + `{edges{cursor node{id}} pageInfo{hasNextPage}}` + strings.Repeat("}", strings.Count(c.field, "{")) + `}`
		var ids, variables []string
		for len(ids) < c.want {
			r := s.queryAs("", query, variables...)
			edge := edgeForm.FindStringSubmatch(string(r.Data))
			if edge == nil {
				break
			}
			if len(edge[1]) != c.length || slices.Contains(ids, edge[2]) {
				t.Errorf("%s: cursor %q of %s", c.field, edge[1], edge[2])
			}
			ids, variables = append(ids, edge[2]), []string{"after", edge[1]}
		}
		if len(ids) != c.want {
			t.Errorf("%s: %d elements, want %d", c.field, len(ids), c.want)
		}
	}
}

var edgeForm = regexp.MustCompile(`"cursor":"([A-Za-z0-9_-]+)","node":\{"id":"([^"]+)"`)
