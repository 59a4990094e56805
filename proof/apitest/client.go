package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// Client sends GraphQL requests to a server. It may be used concurrently.
type Client struct {
	URL   string // of the server, without a path
	Token string // bearer token; if empty, requests are anonymous
}

// WithToken returns a Client for the same server with another token.
func (c *Client) WithToken(token string) *Client { return &Client{c.URL, token} }

// Answer is the response to a GraphQL request.
type Answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
	Extensions struct {
		Cosmos struct {
			Estimate      float64
			RequestCharge float64
			Requests      []Request
		}
		Budget struct {
			Spent  float64
			Caused map[string]float64 // by the kind of background work
		}
	}
}

// Request is one entry of extensions.cosmos: a request of the server to the database.
type Request struct {
	Path          []any
	Container     string
	Operation     string
	PartitionKey  any
	RequestCharge float64
	Status        int
}

// Variables are the variables of a document.
type Variables map[string]any

// Send sends a document and requests diagnostics. It returns an error if there is no response,
// or if the response is not JSON. GraphQL errors are part of the Answer.
func (c *Client) Send(document string, variables Variables) (*Answer, error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, c.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Cosmos-Diagnostics", "1")
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var got Answer
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	return &got, nil
}

// Ask sends a document and decodes the data of the response into result, unless result is nil.
// It ends the test at any error.
func (c *Client) Ask(t testing.TB, document string, variables Variables, result any) *Answer {
	t.Helper()
	got, err := c.Send(document, variables)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Errors) > 0 {
		t.Fatalf("%s\nreturned %+v", document, got.Errors)
	}
	if result != nil {
		if err := json.Unmarshal(got.Data, result); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// CreateUser creates the user of the account, and returns its global id.
func (c *Client) CreateUser(t testing.TB, username string) (id string) {
	t.Helper()
	var got struct {
		CreateUser struct{ User struct{ ID string } }
	}
	c.Ask(t, `mutation ($username: String!) { createUser(input: {username: $username}) { user { id } } }`,
		Variables{"username": username}, &got)
	return got.CreateUser.User.ID
}

// CreatePost creates a post of the signed-in user, and returns its global id.
func (c *Client) CreatePost(t testing.TB, title, content string, tags ...string) (id string) {
	t.Helper()
	var got struct {
		CreatePost struct{ Post struct{ ID string } }
	}
	c.Ask(t, `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`,
		Variables{"input": Variables{"title": title, "content": content, "tags": tags}}, &got)
	return got.CreatePost.Post.ID
}

// CreateComment comments on a post, and returns the global id of the comment.
func (c *Client) CreateComment(t testing.TB, postID, content string) (id string) {
	t.Helper()
	var got struct {
		CreateComment struct{ Comment struct{ ID string } }
	}
	c.Ask(t, `mutation ($post: ID!, $content: String!) { createComment(input: {postId: $post, content: $content}) { comment { id } } }`,
		Variables{"post": postID, "content": content}, &got)
	return got.CreateComment.Comment.ID
}

// LikePost likes a post, and returns the global id of the like.
func (c *Client) LikePost(t testing.TB, postID string) (id string) {
	t.Helper()
	var got struct {
		LikePost struct{ Like struct{ ID string } }
	}
	c.Ask(t, `mutation ($post: ID!) { likePost(input: {postId: $post}) { like { id } } }`, Variables{"post": postID}, &got)
	return got.LikePost.Like.ID
}
