package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// BenchmarkContentSize measures where the line between short and long contents should be
// (schema.MaxInlineContent). It reads and likes posts whose content is a property of the post, or
// an item of its own, and reports the RU of each operation too.
func BenchmarkContentSize(b *testing.B) {
	engine := cosmostest.New(b, cosmostest.Options{})
	var charges chargeSum
	db, err := provision.OpenEmbedded(b.Context(), engine, cosmos.Options{Recorder: &charges})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, ctx := store.New(db), cosmos.WithSession(b.Context())
	ada, err := s.CreateUser(ctx, storetest.Account("ada"), "Ada")
	if err != nil {
		b.Fatal(err)
	}
	for _, kib := range []int{1, 2, 4, 8, 16, 32, 64, 256} {
		for _, apart := range []bool{false, true} {
			where := "inline"
			if apart {
				where = "apart"
			}
			id := fmt.Sprintf("p_%s%d", where, kib)
			measure := func(name string, operation func() error) {
				b.Run(fmt.Sprintf("%s/%dKiB/%s", name, kib, where), func(b *testing.B) {
					charges.reset()
					n := 0
					for b.Loop() {
						if err := operation(); err != nil {
							b.Fatal(err)
						}
						n++
					}
					b.ReportMetric(charges.sum()/float64(n), "RU/op")
				})
			}
			write := func() error { return writePost(ctx, db.Container(schema.Posts), id, ada, kib<<10, apart) }
			measure("create", write)
			measure("read", func() error { _, err := s.Post(ctx, id); return err })
			measure("likeAndUnlike", func() error {
				_, err := s.LikePost(ctx, ada, id)
				if err == nil {
					_, err = s.UnlikePost(ctx, ada, id)
				}
				return err
			})
		}
	}
}

// writePost writes a post with a content of a size, wherever MaxInlineContent is.
func writePost(ctx context.Context, posts *azcosmos.ContainerClient, id string, author *blog.User, size int, apart bool) error {
	content := strings.Repeat("word ", size/5+1)[:size]
	item, _ := schema.NewPostItem(&blog.Post{ID: id, Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: content, CreationDate: "2026-01-01T00:00:00.000000Z"})
	item.Content, item.ContentVersion = content, 0
	batch := posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(id))
	if apart {
		item.Content, item.ContentVersion = "", 1
		text, err := cosmos.EncodeItem(schema.NewContentItem(id, content, 1))
		if err != nil {
			return err
		}
		batch.UpsertItem(text, nil)
	}
	text, err := cosmos.EncodeItem(item)
	if err != nil {
		return err
	}
	batch.UpsertItem(text, nil)
	return cosmos.ExecuteBatch(ctx, posts, batch)
}

// chargeSum adds the charges of requests.
type chargeSum struct {
	mu sync.Mutex
	ru float64
}

func (c *chargeSum) Record(_ context.Context, request cosmos.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ru += request.Charge
}

func (c *chargeSum) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ru = 0
}

func (c *chargeSum) sum() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ru
}
