//go:build ci

package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/store/audit"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// auditedContainers are the containers of the items that an audit compares.
var auditedContainers = []string{schema.Posts, schema.Users, schema.Usernames, schema.Lists, schema.Feed}

// partitionKeys are the properties that are partition keys.
var partitionKeys = map[string]string{
	schema.Posts: "postId", schema.Users: "userId", schema.Usernames: "id", schema.Lists: "list", schema.Feed: "type",
}

// place is where an item is.
type place struct{ container, partition, id string }

type properties map[string]any

// state returns all items of the audited containers, without what the service sets.
func (w *world) state() map[place]properties {
	w.T.Helper()
	found := map[place]properties{}
	for _, container := range auditedContainers {
		for page, err := range w.Follower(1000).Follow(w.Ctx(), []follow.Position{{Feed: follow.AllItems(container)}}) {
			w.OK(err)
			for _, text := range page.Items {
				item := properties{}
				decoder := json.NewDecoder(bytes.NewReader(text))
				decoder.UseNumber()
				w.OK(decoder.Decode(&item))
				for name := range item {
					if strings.HasPrefix(name, "_") {
						delete(item, name)
					}
				}
				partition, _ := item[partitionKeys[container]].(string)
				id, _ := item["id"].(string)
				found[place{container, partition, id}] = item
			}
		}
	}
	return found
}

func textOf(item properties) string {
	text, err := json.Marshal(item)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// set makes the items of the audited containers equal to a state.
func (w *world) set(state map[place]properties) {
	w.T.Helper()
	now := w.state()
	for at, item := range state {
		if now[at] == nil || textOf(now[at]) != textOf(item) {
			w.put(at, item)
		}
	}
	for at := range now {
		if state[at] == nil {
			w.OK(cosmos.Delete(w.Ctx(), w.Container(at.container), at.partition, at.id, "*"))
		}
	}
}

func (w *world) put(at place, item properties) {
	w.T.Helper()
	text, err := cosmos.EncodeItem(item)
	w.OK(err)
	_, err = w.Container(at.container).UpsertItem(w.Ctx(), azcosmos.NewPartitionKeyString(at.partition), text, nil)
	w.OK(err)
}

// targets returns the partitions that an audit compares, in its order.
func targets(states ...map[place]properties) (all []target) {
	for _, container := range auditedContainers {
		var partitions []string
		for _, state := range states {
			for at := range state {
				if at.container == container && !slices.Contains(partitions, at.partition) {
					partitions = append(partitions, at.partition)
				}
			}
		}
		slices.Sort(partitions)
		for _, partition := range partitions {
			all = append(all, target{container, partition})
		}
	}
	return all
}

// auditAll compares all targets. If it repairs, it also returns what is left.
func (w *world) auditAll(all []target, repair bool) (found, left []string) {
	w.T.Helper()
	name := func(d audit.Drift) string {
		return strings.TrimSpace(fmt.Sprint(d.Kind, " ", d.Container, " ", d.ID, " ", d.Field))
	}
	for _, t := range all {
		drifts, err := w.drifts(t.container, t.partition)
		if err != nil {
			return []string{"ERROR " + err.Error()}, []string{"ERROR"}
		}
		for _, d := range drifts {
			found = append(found, name(d))
		}
		if repair && len(drifts) > 0 {
			if _, err := w.repair(t.container, t.partition, drifts); err != nil {
				return found, []string{"ERROR " + err.Error()}
			}
		}
	}
	if repair && len(found) > 0 {
		left, _ = w.auditAll(all, false)
	}
	return found, left
}

// addAuditedBlog adds items of each kind, in each of their states, with all views.
func (w *world) addAuditedBlog() {
	w.T.Helper()
	ada, bob, gone := w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Gone")
	add := func(content string) *blog.Post {
		w.Clock.Advance(time.Second)
		post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: content, Tags: []string{"go"}})
		w.OK(err)
		return post
	}
	short, long, deleted := add("short"), add(strings.Repeat("long ", schema.MaxInlineContent/4)), add("deleted")
	w.AddLike(bob, short)
	w.AddComment(bob, short)
	comment := w.AddComment(ada, short)
	_, err := w.UpdateComment(w.Ctx(), ada.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: strings.Repeat("edited ", 100)})
	w.OK(err)
	former := w.AddComment(bob, short)
	_, err = w.DeleteComment(w.Ctx(), bob.ID, short.ID, former.ID)
	w.OK(err)
	w.OK(w.ExpireComment(w.Ctx(), short.ID, former.ID, bob.ID))
	title := "Another title"
	_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: short.Ref(), PostChange: blog.PostChange{Title: &title}})
	w.OK(err)
	w.AddLike(ada, short)
	for _, post := range []*blog.Post{short, long, deleted} {
		w.OK(w.RepairPost(w.Ctx(), post.ID))
	}
	w.RemovePost(deleted)
	w.OK(w.RepairPost(w.Ctx(), deleted.ID))
	_, err = w.DeleteUser(w.Ctx(), gone.ID, "Gone")
	w.OK(err)
	w.OK(w.RecordDeletion(w.Ctx(), chores.Deletion{UserID: gone.ID, Revision: 3}))
	pending, err := w.Deletions(w.Ctx())
	w.OK(err)
	_, err = chores.Run(w.Ctx(), w.DeletionPass(pending[0]))
	w.OK(err)
	w.OK(w.FinishDeletion(w.Ctx(), pending[0]))
	w.Clock.Advance(time.Minute)
}

// kindOf names the kind of an item.
func (p properties) kindOf(at place) string {
	kind := at.container
	if at.id == "horizon" {
		return kind + " horizon"
	}
	if t, ok := p["type"].(string); ok {
		kind += " " + t
	}
	if p["deleted"] == true {
		kind += " deleted"
	}
	return kind
}

// otherType returns a value of another type, and otherValue another one of the same.
func otherType(value any) any {
	if _, ok := value.(string); ok {
		return 7
	}
	return "text"
}

func otherValue(value any) any {
	switch v := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "2001-01-01T00:00:00.000000Z"
		}
		return v + "x"
	case bool:
		return !v
	case json.Number:
		n, _ := v.Int64()
		return n + 7
	case []any:
		if len(v) == 0 {
			return []any{"x"}
		}
		return v[:len(v)-1]
	}
	return nil
}

// corruption is a change of the items of the audited containers that no command makes.
type corruption struct {
	name  string
	at    place
	item  properties // after the change; nil if it is removed
	other string     // property that was changed; empty if the whole item was removed or added
}

// corruptions returns each property of each item removed, null, of another type and of another
// value, and each item removed, and added again with another id. Ids and partition keys say where
// an item is, and do not change.
func corruptions(whole map[place]properties) (all []corruption) {
	seen := map[string]bool{}
	add := func(kind, damage string, c corruption) {
		c.name = kind + ": " + strings.TrimSpace(c.other+" "+damage)
		if !seen[c.name] || *strideFlag == 1 {
			all = append(all, c)
		}
		seen[c.name] = true
	}
	keys := slices.SortedFunc(maps.Keys(whole), func(a, b place) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	n := 0
	for _, at := range keys {
		item := whole[at]
		kind := item.kindOf(at)
		add(kind, "item removed", corruption{at: at})
		if partitionKeys[at.container] != "id" {
			twin := maps.Clone(item)
			twin["id"] = at.id + "q"
			add(kind, "item added", corruption{at: place{at.container, at.partition, at.id + "q"}, item: twin})
		}
		for _, name := range slices.Sorted(maps.Keys(item)) {
			if name == "id" || name == partitionKeys[at.container] {
				continue
			}
			removed := maps.Clone(item)
			delete(removed, name)
			add(kind, "removed", corruption{at: at, item: removed, other: name})
			for damage, value := range []any{nil, otherType(item[name]), otherValue(item[name])} {
				if n++; name == "ttl" && damage < 2 || *strideFlag > 1 && n%3 != damage {
					continue // the service accepts no ttl that is no number
				}
				damaged := maps.Clone(item)
				damaged[name] = value
				add(kind, []string{"null", "of another type", "another"}[damage], corruption{at: at, item: damaged, other: name})
			}
		}
	}
	return all
}

// What an audit does not find, and why (docs/data-model.md#audit).
var notFound = regexp.MustCompile(`^(` + strings.Join([]string{
	`.* deleted: .*`,                                                  // it expires
	`posts \w+: content another`, `\w+( user)?: creationDate another`, // no other item has it
	`posts \w+: edits (removed|another)`,       // nor the latest edits, which a post may have none of
	`lists counter: revision another`,          // weights only have earlier ones
	`feed horizon: room .*`,                    // a wrong room costs a search
	`feed horizon: item removed`,               // it is below all posts, as a missing one
	`feed post: arrivalDate (removed|another)`, // a refill writes none
}, "|") + `)$`)

// What an audit finds and does not repair: a source. What is derived from others, it repairs.
var notRepaired = regexp.MustCompile(`^(.* deleted|posts .*|users user): .*`)

var derived = regexp.MustCompile(`^(posts (post|comment|like): (commentCount|likeCount|recentComments|userUsername|authorRevision|sortKey)` +
	`|posts comment: excerpt|users user: postCount) .*`)

// ownNumbers are the properties that repairs write anew.
var ownNumbers = []string{"revision", "room", "lastArrival", "trimmedArrival", "arrivalDate"}

// TestCorruptions plants corruptions one by one. An audit finds and repairs each, so that all items
// are as before, except for the corruptions above. With -stride 1, it plants all of them.
func TestCorruptions(t *testing.T) {
	w := newWorld(t)
	w.addAuditedBlog()
	whole := w.state()
	all := targets(whole)
	if found, _ := w.auditAll(all, false); len(found) > 0 {
		t.Fatalf("the undamaged blog has the drifts %q", found)
	}
	planted := corruptions(whole)
	for _, c := range planted {
		if c.item == nil {
			w.OK(cosmos.Delete(w.Ctx(), w.Container(c.at.container), c.at.partition, c.at.id, "*"))
		} else {
			w.put(c.at, c.item)
		}
		found, left := w.auditAll(all, true)
		if len(left) > 0 { // a repair may lead to the next one
			_, left = w.auditAll(all, true)
		}
		switch {
		case slices.ContainsFunc(append(found, left...), func(s string) bool { return strings.HasPrefix(s, "ERROR") }):
			t.Errorf("%s: found %q, left %q", c.name, found, left)
		case len(found) == 0 && !notFound.MatchString(c.name):
			t.Errorf("%s: not found", c.name)
		case notRepaired.MatchString(c.name) && !derived.MatchString(c.name):
		case len(left) > 0:
			t.Errorf("%s: found %q, left %q", c.name, found, left)
		case len(found) > 0:
			if difference := cmp.Diff(withoutNumbers(whole, whole), withoutNumbers(w.state(), whole)); difference != "" {
				t.Errorf("%s: found %q, and repaired it otherwise (- before, + after):\n%s", c.name, found, difference)
			}
		}
		w.set(whole)
	}
	t.Log(len(planted), "corruptions")
}

// withoutNumbers returns a state without what repairs write anew, and without tombstones that were
// not there before: the entry of a copy with a wrong date leaves the list of a wrong month.
func withoutNumbers(state, before map[place]properties) map[string]string {
	texts := map[string]string{}
	for at, item := range state {
		if before[at] == nil && (item["deleted"] == true || item["type"] == schema.TypeTombstone || item["postCount"] == json.Number("0")) {
			continue
		}
		item = maps.Clone(item)
		for _, name := range ownNumbers {
			delete(item, name)
		}
		if at.container == schema.Usernames {
			delete(item, "creationDate") // of the reservation
		}
		texts[fmt.Sprint(at)] = textOf(item)
	}
	return texts
}

// TestItemsWithoutPartitionKey plants items that are in no partition that has a name.
func TestItemsWithoutPartitionKey(t *testing.T) {
	w := newWorld(t)
	w.AddUser("Ada")
	for container, name := range partitionKeys {
		if container == schema.Usernames || container == schema.Feed {
			continue // the key is the id, or the same for all items
		}
		text := fmt.Sprintf(`{"id":"lost","type":"comment",%q:null}`, name)
		_, err := w.Container(container).CreateItem(w.Ctx(), azcosmos.NullPartitionKey, []byte(text), nil)
		w.OK(err)
	}
	var found []string
	result, err := w.audit(w.Ctx(), audit.Options{Found: func(d audit.Drift, corrected bool) {
		found = append(found, fmt.Sprint(d.Kind, " ", d.Container, " ", d.ID, " ", d.Is, " ", corrected))
	}})
	w.OK(err)
	slices.Sort(found)
	if result.Drifts != 3 || len(found) != 3 || found[0] != "unreadable lists lost the partition key is missing false" {
		t.Errorf("found %q, %+v", found, result)
	}
}
