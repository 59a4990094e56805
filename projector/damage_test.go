package projector_test

import (
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// damage is an inconsistency that only a fault or a manual edit causes, and the drifts that an
// audit reports: kind, container, id, field.
type damage struct {
	posts int // in the scene; a few if 0
	plant func(s *scene)
	found func(s *scene) []string
}

const (
	manyPosts = 230                           // more than the feed keeps
	longAgo   = "1999-01-01T00:00:00.000000Z" // even in a synctest bubble, whose time begins in 2000
)

// damages lists all kinds of damage.
var damages = map[string]damage{
	"a comment count": {0, func(s *scene) { s.changePost(s.posts[0], item{"commentCount": 7}) },
		func(s *scene) []string { return []string{"count posts " + s.posts[0].ID + " commentCount"} }},
	"both counts": {0, func(s *scene) { s.changePost(s.posts[0], item{"commentCount": 0, "likeCount": -2}) },
		func(s *scene) []string {
			return []string{"count posts " + s.posts[0].ID + " commentCount", "count posts " + s.posts[0].ID + " likeCount"}
		}},
	"a count in the same revision": {0, func(s *scene) { s.change("posts", s.posts[0].ID, s.posts[0].ID, item{"likeCount": 5}) },
		func(s *scene) []string {
			id := s.posts[0].ID
			return []string{"copy feed " + id + " likeCount", "copy users " + id + " likeCount", "count posts " + id + " likeCount"}
		}},
	"a comment's name": {0, func(s *scene) {
		s.change("posts", s.posts[0].ID, s.comment.ID, item{"userUsername": "former", "authorRevision": 1})
	}, func(s *scene) []string { return []string{"name posts " + s.comment.ID + " userUsername"} }},
	"a comment's name in the same revision": {0, func(s *scene) {
		s.change("posts", s.posts[0].ID, s.comment.ID, item{"userUsername": "another"})
	}, func(s *scene) []string {
		return []string{"name posts " + s.comment.ID + " userUsername", "recent posts " + s.posts[0].ID + " recentComments"}
	}},
	"the recent comments": {0, func(s *scene) { s.changePost(s.posts[0], item{"recentComments": []any{}}) },
		func(s *scene) []string { return []string{"recent posts " + s.posts[0].ID + " recentComments"} }},
	"recent comments of another type": {0, func(s *scene) { s.changePost(s.posts[0], item{"recentComments": nil}) },
		func(s *scene) []string { return []string{"recent posts " + s.posts[0].ID + " recentComments"} }},
	"the excerpt of a comment": {0, func(s *scene) {
		s.change("posts", s.posts[0].ID, s.comment.ID, item{"excerpt": "another"})
	}, func(s *scene) []string {
		return []string{"excerpt posts " + s.comment.ID + " excerpt", "recent posts " + s.posts[0].ID + " recentComments"}
	}},
	"the recent comments of a copy": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[0].ID, item{"recentComments": []any{}}) },
		func(s *scene) []string { return []string{"copy users " + s.posts[0].ID + " recentComments"} }},
	"a content item beside a whole post": {0, func(s *scene) {
		s.put("posts", s.posts[0].ID, item{"id": "content", "postId": s.posts[0].ID, "type": "content", "content": "former", "version": 1})
	}, func(s *scene) []string { return []string{"content posts content version"} }},
	"a content item without a post": {0, func(s *scene) {
		s.put("posts", "p_lost", item{"id": "content", "postId": "p_lost", "type": "content", "content": "former", "version": 1})
	}, func(s *scene) []string { return []string{"orphan posts content"} }},
	"a like's author revision": {0, func(s *scene) { s.change("posts", s.posts[0].ID, s.ben.ID, item{"authorRevision": 99}) },
		func(s *scene) []string { return []string{"name posts " + s.ben.ID + " authorRevision"} }},
	"a post's name": {0, func(s *scene) { s.changePost(s.posts[1], item{"userUsername": "former", "authorRevision": 1}) },
		func(s *scene) []string { return []string{"name posts " + s.posts[1].ID + " userUsername"} }},
	"a comment without a post": {0, func(s *scene) {
		comment := s.read("posts", s.posts[0].ID, s.comment.ID)
		comment["id"], comment["postId"] = "c_lost", "p_lost"
		s.put("posts", "p_lost", comment)
	}, func(s *scene) []string { return []string{"orphan posts c_lost"} }},
	"a like of a deleted post": {0, func(s *scene) {
		like := s.read("posts", s.posts[0].ID, s.ben.ID)
		like["postId"] = s.deleted.ID
		s.put("posts", s.deleted.ID, like)
	}, func(s *scene) []string { return []string{"unpurged posts " + s.ben.ID} }},
	"a live comment that expires": {0, func(s *scene) { s.change("posts", s.posts[0].ID, s.comment.ID, item{"ttl": 10_000}) },
		func(s *scene) []string { return []string{"expiry posts " + s.comment.ID + " ttl"} }},
	"a comment of a deleted user": {0, func(s *scene) {
		comment := s.read("posts", s.posts[0].ID, s.comment.ID)
		comment["id"], comment["userId"], comment["userUsername"], comment["authorRevision"] = "c_left", s.gone.ID, s.gone.Username, 2
		comment["sortKey"] = schema.SortKey(blog.DateTime(comment["creationDate"].(string)), "c_left")
		s.put("posts", s.posts[0].ID, comment)
		s.changePost(s.posts[0], item{"commentCount": 2})
	}, func(s *scene) []string {
		return []string{"left posts c_left userId", "recent posts " + s.posts[0].ID + " recentComments"}
	}},
	"a post of a deleted user": {0, func(s *scene) {
		// A projection leaves the author's id of a copy, which never changes.
		s.change("feed", schema.FeedPartition, s.posts[2].ID, item{"userId": s.gone.ID})
		for _, list := range s.posts[2].Lists() {
			s.change("lists", string(list), s.posts[2].ID, item{"userId": s.gone.ID})
		}
		s.changePost(s.posts[2], item{"userId": s.gone.ID, "userUsername": s.gone.Username, "authorRevision": 2})
	}, func(s *scene) []string {
		id := s.posts[2].ID // anna's copy has lost its source
		return []string{"left posts " + id + " userId", "orphan users " + id}
	}},

	"a missing copy": {0, func(s *scene) { s.remove("users", s.anna.ID, s.posts[1].ID) }, func(s *scene) []string {
		return []string{"count users " + s.anna.ID + " postCount", "missing users " + s.posts[1].ID}
	}},
	"a copy's texts": {0, func(s *scene) {
		s.changeHead("users", s.anna.ID, s.posts[1].ID, item{"title": "another", "excerpt": ""})
	},
		func(s *scene) []string {
			return []string{"copy users " + s.posts[1].ID + " head.excerpt", "copy users " + s.posts[1].ID + " head.title"}
		}},
	"an older copy": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[0].ID, item{"revision": 1, "likeCount": 0}) },
		func(s *scene) []string {
			return []string{"copy users " + s.posts[0].ID + " likeCount", "copy users " + s.posts[0].ID + " revision"}
		}},
	"a copy from the future": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[0].ID, item{"revision": 99, "version": 9}) },
		func(s *scene) []string {
			return []string{"copy users " + s.posts[0].ID + " revision", "copy users " + s.posts[0].ID + " version"}
		}},
	"a copy that expires": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[0].ID, item{"ttl": 10_000}) },
		func(s *scene) []string { return []string{"copy users " + s.posts[0].ID + " ttl"} }},
	"a copy's name and dates": {0, func(s *scene) {
		s.change("users", s.anna.ID, s.posts[0].ID, item{"userUsername": "x", "authorRevision": 1, "updatedDate": longAgo})
	}, func(s *scene) []string {
		id := s.posts[0].ID
		return []string{"copy users " + id + " authorRevision", "copy users " + id + " updatedDate", "copy users " + id + " userUsername"}
	}},
	"an unreadable copy": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[0].ID, item{"head": 7}) },
		func(s *scene) []string { return []string{"unreadable users " + s.posts[0].ID} }},
	"a copy whose revision is unreadable": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[0].ID, item{"revision": "many"}) },
		func(s *scene) []string {
			return []string{"count users " + s.anna.ID + " postCount", "unreadable users " + s.posts[0].ID}
		}},
	"a deleted post that came back": {0, func(s *scene) {
		s.copyAs("users", s.anna.ID, s.posts[1], item{"id": s.deleted.ID, "postId": s.deleted.ID, "revision": 1})
	}, func(s *scene) []string {
		return []string{"copy users " + s.deleted.ID + " deleted", "count users " + s.anna.ID + " postCount"}
	}},
	"a deleted post that came back with a high revision": {0, func(s *scene) {
		s.copyAs("users", s.anna.ID, s.posts[1], item{"id": s.deleted.ID, "postId": s.deleted.ID, "revision": 99})
	}, func(s *scene) []string {
		return []string{"copy users " + s.deleted.ID + " deleted", "count users " + s.anna.ID + " postCount"}
	}},
	"a tombstone of a live post": {0, func(s *scene) {
		tombstone := s.read("users", s.anna.ID, s.deleted.ID)
		tombstone["id"], tombstone["postId"] = s.posts[1].ID, s.posts[1].ID
		s.put("users", s.anna.ID, tombstone)
	}, func(s *scene) []string {
		return []string{"copy users " + s.posts[1].ID + " deleted", "count users " + s.anna.ID + " postCount"}
	}},
	"a copy at another place of the list": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[1].ID, item{"sortKey": "2000"}) },
		func(s *scene) []string { return []string{"copy users " + s.posts[1].ID + " sortKey"} }},
	"a copy that no list shows": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[1].ID, item{"type": "tombstone"}) },
		func(s *scene) []string { return []string{"copy users " + s.posts[1].ID + " type"} }},
	"a tombstone that lists show": {0, func(s *scene) { s.change("users", s.anna.ID, s.deleted.ID, item{"type": "post"}) },
		func(s *scene) []string { return []string{"copy users " + s.deleted.ID + " type"} }},
	"a tombstone without an end": {0, func(s *scene) { s.change("users", s.anna.ID, s.deleted.ID, item{"ttl": nil}) },
		func(s *scene) []string { return []string{"expiry users " + s.deleted.ID + " ttl"} }},
	"a copy without a post": {0, func(s *scene) {
		s.copyAs("users", s.anna.ID, s.posts[1], item{"id": "p_lost", "postId": "p_lost"})
	}, func(s *scene) []string {
		return []string{"count users " + s.anna.ID + " postCount", "orphan users p_lost"}
	}},
	"a copy in another user's partition": {0, func(s *scene) { s.copyAs("users", s.ben.ID, s.posts[1], item{"userId": s.ben.ID}) },
		func(s *scene) []string {
			return []string{"count users " + s.ben.ID + " postCount", "orphan users " + s.posts[1].ID}
		}},
	"a second copy": {0, func(s *scene) { s.copyAs("users", s.anna.ID, s.posts[1], item{"id": "p_second"}) },
		func(s *scene) []string {
			return []string{"count users " + s.anna.ID + " postCount", "duplicate users p_second"}
		}},
	"a post count": {0, func(s *scene) { s.change("users", s.anna.ID, s.anna.ID, item{"postCount": 11}) },
		func(s *scene) []string { return []string{"count users " + s.anna.ID + " postCount"} }},

	"a missing entry": {0, func(s *scene) { s.remove("lists", "tag:common", s.posts[1].ID) }, func(s *scene) []string {
		return []string{"count lists counter postCount", "missing lists " + s.posts[1].ID}
	}},
	"an entry's texts": {0, func(s *scene) {
		s.changeHead("lists", "tag:common", s.posts[1].ID, item{"title": "another", "tags": []string{}})
	}, func(s *scene) []string {
		return []string{"copy lists " + s.posts[1].ID + " head.tags", "copy lists " + s.posts[1].ID + " head.title"}
	}},
	"an entry at another place of the list": {0, func(s *scene) { s.change("lists", "tag:common", s.posts[1].ID, item{"sortKey": nil}) },
		func(s *scene) []string { return []string{"copy lists " + s.posts[1].ID + " sortKey"} }},
	"an entry from the future": {0, func(s *scene) {
		s.change("lists", "tag:common", s.posts[1].ID, item{"revision": 99, "version": 9})
	}, func(s *scene) []string {
		return []string{"copy lists " + s.posts[1].ID + " revision", "copy lists " + s.posts[1].ID + " version"}
	}},
	"an unreadable entry": {0, func(s *scene) { s.change("lists", "tag:common", s.posts[1].ID, item{"head": 7}) },
		func(s *scene) []string { return []string{"unreadable lists " + s.posts[1].ID} }},
	"an entry whose revision is unreadable": {0, func(s *scene) { s.change("lists", "tag:common", s.posts[1].ID, item{"revision": "many"}) },
		func(s *scene) []string {
			return []string{"unreadable lists " + s.posts[1].ID}
		}},
	"a tombstone of a live post in a list": {0, func(s *scene) {
		tombstone := s.read("lists", "tag:common", s.deleted.ID)
		tombstone["id"], tombstone["postId"], tombstone["revision"] = s.posts[1].ID, s.posts[1].ID, 99
		s.put("lists", "tag:common", tombstone)
	}, func(s *scene) []string {
		return []string{"copy lists " + s.posts[1].ID + " deleted", "count lists counter postCount"}
	}},
	"a tombstone without an end in a list": {0, func(s *scene) { s.change("lists", "tag:common", s.deleted.ID, item{"ttl": nil}) },
		func(s *scene) []string { return []string{"expiry lists " + s.deleted.ID + " ttl"} }},
	"a deleted post that came back to a list": {0, func(s *scene) {
		s.entryAs("tag:common", s.posts[1], item{"id": s.deleted.ID, "postId": s.deleted.ID, "revision": 99})
	}, func(s *scene) []string {
		return []string{"count lists counter postCount", "surplus lists " + s.deleted.ID}
	}},
	"an entry of a post without the tag": {0, func(s *scene) { s.entryAs("tag:other", s.posts[1], item{"list": "tag:other"}) },
		func(s *scene) []string {
			return []string{"count lists counter postCount", "surplus lists " + s.posts[1].ID}
		}},
	"an entry without a post": {0, func(s *scene) { s.entryAs("tag:common", s.posts[1], item{"id": "p_lost", "postId": "p_lost"}) },
		func(s *scene) []string { return []string{"count lists counter postCount", "orphan lists p_lost"} }},
	"a second entry": {0, func(s *scene) { s.entryAs("tag:common", s.posts[1], item{"id": "p_second"}) },
		func(s *scene) []string { return []string{"count lists counter postCount", "duplicate lists p_second"} }},
	"a list's counter": {0, func(s *scene) { s.change("lists", "tag:common", "counter", item{"postCount": 64}) },
		func(s *scene) []string { return []string{"count lists counter postCount"} }},
	"a list's missing counter": {0, func(s *scene) { s.remove("lists", "tag:common", "counter") },
		func(s *scene) []string { return []string{"count lists counter postCount", "orphan lists common"} }},
	"a weight": {0, func(s *scene) { s.change("lists", "tags", "common", item{"weight": 64}) },
		func(s *scene) []string { return []string{"count lists counter weight"} }},
	"a month's place": {0, func(s *scene) {
		month := s.posts[1].CreationDate.Month()
		s.change("lists", "months", month.Name, item{"sortKey": "1999-01"})
	}, func(s *scene) []string { return []string{"count lists counter sortKey"} }},
	"a weight from the future": {0, func(s *scene) { s.change("lists", "tags", "common", item{"weight": 1, "revision": 1000}) },
		func(s *scene) []string { return []string{"count lists counter weight"} }},
	"a missing weight": {0, func(s *scene) { s.remove("lists", "tags", "common") },
		func(s *scene) []string { return []string{"count lists counter weight"} }},
	"a weight that expires": {0, func(s *scene) { s.change("lists", "tags", "common", item{"ttl": 10_000}) },
		func(s *scene) []string { return []string{"expiry lists common ttl"} }},
	"a weight without a list": {0, func(s *scene) {
		s.put("lists", "tags", item{"id": "lost", "list": "tags", "type": "tag", "weight": 1, "revision": 1})
	}, func(s *scene) []string { return []string{"orphan lists lost"} }},
	"an unlisted copy": {0, func(s *scene) { s.change("users", s.anna.ID, s.posts[1].ID, item{"unlisted": true}) },
		func(s *scene) []string { return []string{"copy users " + s.posts[1].ID + " unlisted"} }},

	"no reservation": {0, func(s *scene) { s.remove("usernames", s.anna.Username, s.anna.Username) },
		func(s *scene) []string { return []string{"reservation usernames " + s.anna.Username + " userId"} }},
	"a reservation of another user": {0, func(s *scene) {
		s.change("usernames", s.anna.Username, s.anna.Username, item{"userId": s.ben.ID, "creationDate": longAgo})
	}, func(s *scene) []string {
		return []string{"reclaimable usernames " + s.anna.Username + " userId", "reservation usernames " + s.anna.Username + " userId"}
	}},
	"an unused reservation": {0, func(s *scene) {
		s.put("usernames", "old-ben", item{"id": "old-ben", "userId": s.ben.ID, "creationDate": longAgo})
	}, func(s *scene) []string { return []string{"reclaimable usernames old-ben userId"} }},
	"a reservation of a missing user": {0, func(s *scene) {
		s.put("usernames", "nobody", item{"id": "nobody", "userId": "u_nobody", "creationDate": longAgo})
	}, func(s *scene) []string { return []string{"reclaimable usernames nobody userId"} }},

	"a copy missing in the feed": {manyPosts, func(s *scene) { s.remove("feed", "post", s.posts[manyPosts-5].ID) },
		func(s *scene) []string { return []string{"missing feed " + s.posts[manyPosts-5].ID} }},
	"a copy at another place of the feed": {0, func(s *scene) { s.change("feed", "post", s.posts[0].ID, item{"sortKey": "2000"}) },
		func(s *scene) []string { return []string{"copy feed " + s.posts[0].ID + " sortKey"} }},
	"a copy in the feed": {0, func(s *scene) { s.changeHead("feed", "post", s.posts[0].ID, item{"title": "another"}) },
		func(s *scene) []string { return []string{"copy feed " + s.posts[0].ID + " head.title"} }},
	"a copy without a head": {0, func(s *scene) { s.change("feed", "post", s.posts[0].ID, item{"head": nil}) },
		func(s *scene) []string { return []string{"copy feed " + s.posts[0].ID + " head"} }},
	"an unreadable copy in the feed": {0, func(s *scene) { s.change("feed", "post", s.posts[0].ID, item{"head": 7}) },
		func(s *scene) []string { return []string{"unreadable feed " + s.posts[0].ID} }},
	"a copy in the feed whose revision is unreadable": {0, func(s *scene) { s.change("feed", "post", s.posts[0].ID, item{"revision": "many"}) },
		func(s *scene) []string { return []string{"unreadable feed " + s.posts[0].ID} }},
	"a tombstone in the feed": {0, func(s *scene) {
		tombstone := s.read("feed", "post", s.deleted.ID)
		tombstone["id"], tombstone["postId"] = s.posts[1].ID, s.posts[1].ID
		s.put("feed", "post", tombstone)
	}, func(s *scene) []string { return []string{"copy feed " + s.posts[1].ID + " deleted"} }},
	"a tombstone without an end in the feed": {0, func(s *scene) { s.change("feed", "post", s.deleted.ID, item{"ttl": nil}) },
		func(s *scene) []string { return []string{"expiry feed " + s.deleted.ID + " ttl"} }},
	"a deleted post in the feed": {0, func(s *scene) {
		s.copyAs("feed", "post", s.posts[1], item{"id": s.deleted.ID, "postId": s.deleted.ID, "revision": 99})
	}, func(s *scene) []string { return []string{"copy feed " + s.deleted.ID + " deleted"} }},
	"a copy without a post in the feed": {0, func(s *scene) {
		s.copyAs("feed", "post", s.posts[1], item{"id": "p_lost", "postId": "p_lost"})
	}, func(s *scene) []string { return []string{"orphan feed p_lost"} }},
	"a second copy in the feed": {0, func(s *scene) { s.copyAs("feed", "post", s.posts[1], item{"id": "p_second"}) },
		func(s *scene) []string { return []string{"duplicate feed p_second"} }},
	"a copy below the horizon": {manyPosts, func(s *scene) {
		s.copyAs("feed", "post", s.posts[1], item{"likeCount": 99}) // no drift
		s.copyAs("feed", "post", s.posts[2], item{"id": s.deleted.ID, "postId": s.deleted.ID, "revision": 99})
	}, func(s *scene) []string { return []string{"copy feed " + s.deleted.ID + " deleted"} }},
	"no horizon": {manyPosts, func(s *scene) { s.remove("feed", "post", "horizon") },
		func(s *scene) []string { return []string{"horizon feed horizon creationDate"} }},
	"a horizon above everything": {manyPosts, func(s *scene) {
		s.change("feed", "post", "horizon", item{"creationDate": string(blog.NewDateTime(time.Now().Add(time.Hour)))})
	}, func(s *scene) []string { return []string{"horizon feed horizon creationDate"} }},
	"a horizon too low": {manyPosts, func(s *scene) {
		s.change("feed", "post", "horizon", item{"creationDate": string(s.posts[20].CreationDate), "postId": s.posts[20].ID})
	}, func(s *scene) []string { return []string{"horizon feed horizon creationDate"} }},
	"an empty feed": {manyPosts, func(s *scene) {
		for _, post := range s.posts[manyPosts-200:] {
			s.remove("feed", "post", post.ID)
		}
	}, func(s *scene) []string {
		var all []string
		for _, post := range s.posts[manyPosts-200:] {
			all = append(all, "missing feed "+post.ID)
		}
		return all
	}},
}

// Scenes have no drift before damage is planted.
func TestScenesHaveNoDrift(t *testing.T) {
	for _, posts := range []int{0, manyPosts} {
		newScene(t, posts).wantNoDrift()
	}
}

// A user without a post count is reported by an audit, and a repair counts the posts.
func TestAuditOfMissingPostCount(t *testing.T) {
	s := newScene(t, 0)
	s.change("users", s.anna.ID, s.anna.ID, item{"postCount": nil})
	if drifts, _ := s.audit(); len(drifts) != 1 || drifts[0] != "count users "+s.anna.ID+" postCount" {
		t.Errorf("drifts: %v", drifts)
	}
	s.audit(func(a *auditing) { a.Repair = true })
	s.wantNoDrift()
	s.wantViewsEqualSource()
}
