package bare

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
	"cosmosblog/store/schema"
)

// Account answers the reads of the benchmark from an account, with net/http, azcosmos and
// encoding/json alone: it makes the requests that the server makes, decodes the items, and encodes
// the same answers. Only ids and cursors are the server's own. Each read has a path,
// /OPERATION/ID, of which the ID is a post's or a user's. It may be used concurrently.
type Account struct{ posts, users, feed *azcosmos.ContainerClient }

// ServeAccount serves an account's reads until ctx ends. It writes its address to output. The
// environment has the account, as that of the program.
func ServeAccount(ctx context.Context, output io.Writer) error {
	a, err := NewAccount(os.Getenv("COSMOS_ENDPOINT"), os.Getenv("COSMOS_KEY"), os.Getenv("COSMOS_DATABASE"))
	if err != nil {
		return err
	}
	return serve(ctx, output, a.Handler())
}

// NewAccount returns the handler of a database. Error: that of azcosmos for an endpoint or a key of
// a wrong form.
func NewAccount(endpoint, key, database string) (*Account, error) {
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return nil, err
	}
	options := &azcosmos.ClientOptions{}
	options.InsecureAllowCredentialWithHTTP = true
	client, err := azcosmos.NewClientWithKey(endpoint, credential, options)
	if err != nil {
		return nil, err
	}
	a := &Account{}
	for name, c := range map[string]**azcosmos.ContainerClient{schema.Posts: &a.posts, schema.Users: &a.users, schema.Feed: &a.feed} {
		if *c, err = client.NewContainer(database, name); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Handler returns the handler of all reads. It reads the whole request first, as a GraphQL server
// must.
func (a *Account) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, read := range map[string]func(ctx context.Context, id string) (any, error){
		"/post/{id}": a.post, "/feed/{id}": a.newest, "/comments/{id}": a.comments, "/posts/{id}": a.postsOf,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			data, err := read(r.Context(), r.PathValue("id"))
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			var body bytes.Buffer
			encoder := json.NewEncoder(&body)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(map[string]any{"data": data}); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.TrimSuffix(body.Bytes(), []byte("\n"))) // fails if the client has disconnected
		})
	}
	return mux
}

// item has the properties that the answers need.
type item struct {
	ID             string `json:"id"`
	PostID         string `json:"postId"`
	UserID         string `json:"userId"`
	UserUsername   string `json:"userUsername"`
	Username       string `json:"username"`
	Head           head   `json:"head"`
	Content        string `json:"content"`
	ContentVersion int    `json:"contentVersion"`
	CommentCount   int    `json:"commentCount"`
	LikeCount      int    `json:"likeCount"`
	CreationDate   string `json:"creationDate"`
	UpdatedDate    string `json:"updatedDate"`
	Version        int    `json:"version"`
}

type head struct {
	Title   string `json:"title"`
	Excerpt string `json:"excerpt"`
}

type author struct {
	ID       string `json:"id"`
	Username string `json:"username"`
}

type post struct {
	ID           string  `json:"id"`
	Title        string  `json:"title"`
	Content      string  `json:"content"`
	Author       author  `json:"author"`
	CommentCount int     `json:"commentCount"`
	LikeCount    int     `json:"likeCount"`
	CreationDate string  `json:"creationDate"`
	UpdatedDate  *string `json:"updatedDate"`
	Version      int     `json:"version"`
}

type shortPost struct {
	ID           string `json:"id"`
	Title        string `json:"title"`
	Excerpt      string `json:"excerpt"`
	Author       author `json:"author"`
	CommentCount int    `json:"commentCount"`
	LikeCount    int    `json:"likeCount"`
	CreationDate string `json:"creationDate"`
}

type comment struct {
	ID           string `json:"id"`
	Content      string `json:"content"`
	Author       author `json:"author"`
	CreationDate string `json:"creationDate"`
}

type page[T any] struct {
	Nodes    []T      `json:"nodes"`
	PageInfo pageInfo `json:"pageInfo"`
}

// pageInfo is the end of a page that is not empty.
type pageInfo struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}

func (a *Account) post(ctx context.Context, id string) (any, error) {
	i, err := read(ctx, a.posts, id, id)
	if err != nil {
		return nil, err
	}
	content := i.Content
	if i.ContentVersion > 0 {
		long, err := read(ctx, a.posts, id, schema.ContentID)
		if err != nil {
			return nil, err
		}
		content = long.Content
	}
	p := post{
		ID: i.ID, Title: i.Head.Title, Content: content, Author: author{i.UserID, i.UserUsername},
		CommentCount: i.CommentCount, LikeCount: i.LikeCount, CreationDate: i.CreationDate, Version: i.Version,
	}
	if i.UpdatedDate != "" {
		p.UpdatedDate = &i.UpdatedDate
	}
	return map[string]any{"post": p}, nil
}

func (a *Account) newest(ctx context.Context, _ string) (any, error) {
	found, err := shortPosts(ctx, a.feed, schema.FeedPartition, model.FeedList,
		"SELECT TOP @n * FROM c WHERE c.deleted = false ORDER BY c.deleted, c.sortKey DESC")
	return map[string]any{"feed": found}, err
}

func (a *Account) postsOf(ctx context.Context, id string) (any, error) {
	user, err := read(ctx, a.users, id, id)
	if err != nil {
		return nil, err
	}
	found, err := shortPosts(ctx, a.users, id, model.UserPostsList(id), "SELECT TOP @n * FROM c WHERE c.type = 'post' ORDER BY c.type, c.sortKey DESC")
	type userWithPosts struct {
		author
		Posts page[shortPost] `json:"posts"`
	}
	return map[string]any{"user": userWithPosts{author{user.ID, user.Username}, found}}, err
}

func (a *Account) comments(ctx context.Context, id string) (any, error) {
	items, hasMore, err := query(ctx, a.posts, id, "SELECT TOP @n * FROM c WHERE c.type = 'comment' ORDER BY c.type DESC, c.sortKey")
	if err != nil {
		return nil, err
	}
	found := page[comment]{PageInfo: pageInfo{HasNextPage: hasMore}}
	for _, i := range items {
		ref := blog.Ref{Type: blog.TypeComment, PartitionKey: i.PostID, ID: i.ID}
		found.Nodes = append(found.Nodes, comment{ref.String(), i.Content, author{i.UserID, i.UserUsername}, i.CreationDate})
		found.PageInfo.EndCursor = model.CommentsList(id).Cursor(blog.Position{CreationDate: blog.DateTime(i.CreationDate), ID: i.ID})
	}
	return map[string]any{"post": map[string]any{"comments": found}}, nil
}

// shortPosts reads copies of posts.
func shortPosts(ctx context.Context, c *azcosmos.ContainerClient, partition string, list model.List, text string) (found page[shortPost], err error) {
	items, hasMore, err := query(ctx, c, partition, text)
	found.PageInfo.HasNextPage = hasMore
	for n, i := range items {
		found.Nodes = append(found.Nodes, shortPost{
			i.PostID, i.Head.Title, i.Head.Excerpt, author{i.UserID, i.UserUsername}, i.CommentCount, i.LikeCount, i.CreationDate,
		})
		p := blog.Position{CreationDate: blog.DateTime(i.CreationDate), ID: i.PostID}
		if partition == schema.FeedPartition {
			p.Rank = n + 1
		}
		found.PageInfo.EndCursor = list.Cursor(p)
	}
	return found, err
}

// read reads an item.
func read(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) (found item, err error) {
	response, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(response.Value, &found)
}

const pageSize = 20

// query returns up to pageSize items, and whether there are more.
func query(ctx context.Context, c *azcosmos.ContainerClient, partition, text string) (items []item, hasMore bool, err error) {
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKeyString(partition), &azcosmos.QueryOptions{
		PageSizeHint:    pageSize + 1,
		QueryParameters: []azcosmos.QueryParameter{{Name: "@n", Value: pageSize + 1}},
	})
	for pager.More() {
		response, err := pager.NextPage(ctx)
		if err != nil {
			return nil, false, err
		}
		for _, text := range response.Items {
			var found item
			if err := json.Unmarshal(text, &found); err != nil {
				return nil, false, fmt.Errorf("decoding an item: %w", err)
			}
			items = append(items, found)
		}
	}
	return items[:min(len(items), pageSize)], len(items) > pageSize, nil
}
