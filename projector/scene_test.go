package projector_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// scene is a world with the items that damages need, and direct access to its containers.
type scene struct {
	*world
	anna, ben, gone *blog.User // gone is deleted
	posts           []*blog.Post
	deleted         *blog.Post    // by anna
	comment         *blog.Comment // by ben, to the first post
	client          *azcosmos.Client
}

// newScene creates a scene in which anna has the given number of live posts, at least 3. The feed
// has at most FeedCapacity of them above its horizon.
func newScene(t testing.TB, posts int) *scene {
	s := &scene{world: newWorld(t)}
	s.anna, s.ben, s.gone = s.user(), s.rename(s.user()), s.user()
	s.posts = s.world.posts(s.anna, max(posts, 3))
	s.deleted = s.world.post(s.anna)
	s.comment = s.world.comment(s.ben, s.posts[0])
	s.like(s.ben, s.posts[0])
	s.like(s.anna, s.posts[1])
	s.world.delete(s.deleted)
	s.deleteUser(s.gone)
	s.client = s.engine.Client(nil)
	s.settle()
	if posts > views.FeedCapacity {
		last := s.posts[posts-views.FeedCapacity-1]
		s.change("feed", "post", "horizon", item{"creationDate": string(last.CreationDate), "postId": last.ID})
	}
	return s
}

func (s *scene) container(name string) *azcosmos.ContainerClient {
	s.Helper()
	c, err := s.client.NewContainer(cosmos.DefaultDatabase, name)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

type item = map[string]any

func (s *scene) read(container, partition, id string) item {
	s.Helper()
	response, err := s.container(container).ReadItem(s.Context(), azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		s.Fatalf("%s %s: %v", container, id, err)
	}
	var read item
	if err := json.Unmarshal(response.Value, &read); err != nil {
		s.Fatal(err)
	}
	maps.DeleteFunc(read, func(name string, _ any) bool { return strings.HasPrefix(name, "_") })
	return read
}

func (s *scene) put(container, partition string, it item) {
	s.Helper()
	text, err := json.Marshal(it)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.container(container).UpsertItem(s.Context(), azcosmos.NewPartitionKeyString(partition), text, nil); err != nil {
		s.Fatal(err)
	}
}

// change sets properties of an item, or removes those that are nil.
func (s *scene) change(container, partition, id string, properties item) {
	s.Helper()
	changed := s.read(container, partition, id)
	for name, value := range properties {
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
	}
	s.put(container, partition, changed)
}

// changeHead is change for properties of the head of a post, a copy or an entry.
func (s *scene) changeHead(container, partition, id string, properties item) {
	s.Helper()
	head := s.read(container, partition, id)["head"].(map[string]any)
	maps.Copy(head, properties)
	s.change(container, partition, id, item{"head": head})
}

// changePost changes a post and raises its revision, as commands do.
func (s *scene) changePost(post *blog.Post, properties item) {
	s.Helper()
	revision := s.read("posts", post.ID, post.ID)["revision"].(float64)
	properties["revision"] = revision + 1
	s.change("posts", post.ID, post.ID, properties)
}

func (s *scene) remove(container, partition, id string) {
	s.Helper()
	if _, err := s.container(container).DeleteItem(s.Context(), azcosmos.NewPartitionKeyString(partition), id, nil); err != nil {
		s.Fatal(err)
	}
}

// entryAs writes the entry of a post in the list of the tag common to another place.
func (s *scene) entryAs(list string, of *blog.Post, properties item) {
	s.Helper()
	entry := s.read("lists", "tag:common", of.ID)
	maps.Copy(entry, properties)
	s.put("lists", list, entry)
}

// copyAs writes the short copy of a post to another place.
func (s *scene) copyAs(container, partition string, of *blog.Post, properties item) {
	s.Helper()
	copy := s.read("users", of.Author.ID, of.ID)
	maps.Copy(copy, properties)
	s.put(container, partition, copy)
}
