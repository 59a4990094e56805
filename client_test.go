package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// api is a GraphQL API under test, asked by one account or by nobody.
type api struct {
	url   string
	token string
}

// as gives the same API, asked with a token.
func (a *api) as(token string) *api { return &api{a.url, token} }

// answer is what came back.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
	Extensions struct {
		Cosmos struct {
			Estimate      float64
			RequestCharge float64
			Requests      []sentRequest
		}
	}
}

// sentRequest is one entry of extensions.cosmos.
type sentRequest struct {
	Path          []any
	Container     string
	Operation     string
	PartitionKey  any
	RequestCharge float64
	Status        int
}

// variables are a document's.
type variables map[string]any

// send asks, with diagnostics. Error: no answer came, or none in JSON.
func (a *api) send(document string, with variables) (*answer, error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": with})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, a.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Cosmos-Diagnostics", "1")
	if a.token != "" {
		request.Header.Set("Authorization", "Bearer "+a.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var got answer
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	return &got, nil
}

// ask asks and puts the data into result; errors in the answer end the test.
func (a *api) ask(t *testing.T, document string, with variables, result any) *answer {
	t.Helper()
	got, err := a.send(document, with)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Errors) > 0 {
		t.Fatalf("%s\nanswered %+v", document, got.Errors)
	}
	if result != nil {
		if err := json.Unmarshal(got.Data, result); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// createUser makes the user of the account.
func (a *api) createUser(t *testing.T, username string) (id string) {
	t.Helper()
	var made struct {
		CreateUser struct{ User struct{ ID string } }
	}
	a.ask(t, `mutation ($username: String!) { createUser(input: {username: $username}) { user { id } } }`, variables{"username": username}, &made)
	return made.CreateUser.User.ID
}

// createPost makes a post of the viewer.
func (a *api) createPost(t *testing.T, title, content string) (id string) {
	t.Helper()
	var made struct {
		CreatePost struct{ Post struct{ ID string } }
	}
	a.ask(t, `mutation ($title: String!, $content: String!) { createPost(input: {title: $title, content: $content}) { post { id } } }`,
		variables{"title": title, "content": content}, &made)
	return made.CreatePost.Post.ID
}

// createComment comments on a post.
func (a *api) createComment(t *testing.T, postID, content string) (id string) {
	t.Helper()
	var made struct {
		CreateComment struct{ Comment struct{ ID string } }
	}
	a.ask(t, `mutation ($post: ID!, $content: String!) { createComment(input: {postId: $post, content: $content}) { comment { id } } }`,
		variables{"post": postID, "content": content}, &made)
	return made.CreateComment.Comment.ID
}

// likePost likes a post.
func (a *api) likePost(t *testing.T, postID string) (id string) {
	t.Helper()
	var made struct {
		LikePost struct{ Like struct{ ID string } }
	}
	a.ask(t, `mutation ($post: ID!) { likePost(input: {postId: $post}) { like { id } } }`, variables{"post": postID}, &made)
	return made.LikePost.Like.ID
}
