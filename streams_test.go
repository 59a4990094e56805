//go:build ci

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cosmosblog/proof/apitest"
)

var subscribers = flag.Int("subscribers", 30, "number of subscribers whose servers are killed")

// TestSubscribersMoveOn kills and stops servers under their subscribers, which connect to others.
// Every acknowledged comment reaches every subscriber of its post, once and in order, and every
// subscriber of the post has its last state.
func TestSubscribersMoveOn(t *testing.T) {
	for name, beside := range map[string]func(t *testing.T, data string) []string{
		"a data folder": func(_ *testing.T, data string) []string { return []string{"--data", data} },
		"an engine":     nil, // as on an account
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			var environment []string
			args := []string{"--data", data, "--max-client-subscriptions", "0", "--max-connections", "10000", "--log-level", "warn"}
			if beside == nil {
				_, environment = serveEngine(t, filepath.Join(t.TempDir(), "engine"))
				provisionWith(t, environment)
			}
			_, stays := serving(t, environment, args...)
			killed, second := serving(t, environment, append(args, "--projector=false")...)
			stopped, third := serving(t, environment, append(args, "--projector=false")...)
			moveOn(t, data, []*apitest.Client{stays, second, third}, killed, stopped)
		})
	}
}

// moveOn writes comments at the first of some servers, several at a time. Meanwhile, a process of
// the others is killed, and one is stopped.
func moveOn(t *testing.T, data string, servers []*apitest.Client, killed, stopped *process) {
	author, _ := signUp(t, servers[0], data, "anna")
	post := author.CreatePost(t, "Title", "Text")
	author.CreateComment(t, post, "the first")
	var got struct {
		Post struct {
			Comments struct {
				PageInfo struct{ EndCursor string }
				Nodes    []struct{ Content string }
			}
		}
	}
	author.Ask(t, fmt.Sprintf(`{ post(id: %q) { comments { pageInfo { endCursor } } } }`, post), nil, &got)
	const writers, each = 4, 15
	const comments = writers * each
	var all sync.WaitGroup
	received := make([][]string, *subscribers)
	for i := range *subscribers {
		s := &subscriber{ctx: deadline(t), servers: servers, next: i}
		all.Go(func() {
			var err error
			s.query = fmt.Sprintf(`subscription { commentAdded(postId: %q, after: %q) { node { content } } }`, post, got.Post.Comments.PageInfo.EndCursor)
			if received[i], err = s.receive(comments); err != nil {
				t.Errorf("subscriber %d: %v", i, err)
			}
		})
		state := &subscriber{ctx: s.ctx, servers: servers, next: i}
		all.Go(func() {
			state.query = fmt.Sprintf(`subscription { postChanged(id: %q) { commentCount } }`, post)
			if err := state.receiveLast(fmt.Sprintf(`"commentCount":%d}`, comments+1)); err != nil {
				t.Errorf("subscriber %d of the state: %v", i, err)
			}
		})
	}
	for part := range 3 {
		var writing sync.WaitGroup
		for writer := range writers {
			writing.Go(func() {
				for i := part * each / 3; i < (part+1)*each/3; i++ {
					author.CreateComment(t, post, fmt.Sprint(writer, " ", i))
				}
			})
		}
		switch part {
		case 1:
			killed.kill(t)
		case 2:
			stopped.terminate(t)
		}
		writing.Wait()
	}
	all.Wait()
	author.Ask(t, fmt.Sprintf(`{ post(id: %q) { comments(first: 100, after: %q) { nodes { content } } } }`, post, got.Post.Comments.PageInfo.EndCursor), nil, &got)
	want := make([]string, len(got.Post.Comments.Nodes))
	for i, comment := range got.Post.Comments.Nodes {
		want[i] = comment.Content
	}
	for i, contents := range received {
		if !t.Failed() && (len(want) != comments || !slices.Equal(contents, want)) {
			t.Errorf("subscriber %d received %q, the post has %q", i, contents, want)
		}
	}
}

// subscriber follows a subscription on one of several servers. If the stream breaks, it goes on at
// the next server.
type subscriber struct {
	ctx     context.Context
	servers []*apitest.Client
	next    int // server
	query   string
	lastID  string
}

// receive receives n comments, and returns their contents.
func (s *subscriber) receive(n int) (contents []string, err error) {
	err = s.follow(func(data string) (bool, error) {
		var answer struct {
			Data struct {
				CommentAdded struct{ Node struct{ Content string } }
			}
		}
		if err := json.Unmarshal([]byte(data), &answer); err != nil || answer.Data.CommentAdded.Node.Content == "" {
			return false, fmt.Errorf("got %s: %v", data, err)
		}
		contents = append(contents, answer.Data.CommentAdded.Node.Content)
		return len(contents) == n, nil
	})
	return contents, err
}

// receiveLast receives states until one contains a text.
func (s *subscriber) receiveLast(text string) error {
	return s.follow(func(data string) (bool, error) {
		if strings.Contains(data, "errors") {
			return false, fmt.Errorf("got %s", data)
		}
		return strings.Contains(data, text), nil
	})
}

// follow passes the answers of the subscription to a function until it returns true or an error.
func (s *subscriber) follow(receive func(data string) (done bool, err error)) error {
	for s.ctx.Err() == nil {
		done, err := s.followAt(s.servers[s.next%len(s.servers)], receive)
		if done || err != nil {
			return err
		}
		s.next++
	}
	return s.ctx.Err()
}

// followAt follows the subscription on one server until the stream breaks.
func (s *subscriber) followAt(server *apitest.Client, receive func(data string) (bool, error)) (done bool, err error) {
	request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, server.URL+"/graphql?query="+url.QueryEscape(s.query), nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "text/event-stream")
	if s.lastID != "" {
		request.Header.Set("Last-Event-ID", s.lastID)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, nil // the server is gone
	}
	defer response.Body.Close()
	id := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "event" && value == "complete":
			return false, fmt.Errorf("the stream is complete")
		case name == "id":
			id = value
		case name == "" && id != "": // a block with an id alone sets it, too
			s.lastID = id
		case name == "data" && value != "":
			if done, err := receive(value); done || err != nil {
				return done, err
			}
			s.lastID = id
		}
	}
	return false, nil
}
