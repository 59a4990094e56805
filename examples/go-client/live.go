package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/coder/websocket"
)

// expired is the code with which the server closes a connection whose token expired, or is not
// valid.
const expired = websocket.StatusCode(4403)

// live prints the newest comments of a post, and then each new one, until the post is deleted. If
// the connection is lost, it connects again, and resumes after the last comment.
func (b blog) live(ctx context.Context, postID string) error {
	answer, err := LatestComments(ctx, b, postID)
	if err != nil {
		return err
	}
	if answer.Post == nil {
		return errors.New("there is no such post")
	}
	fmt.Println(answer.Post.Title)
	comments := answer.Post.Comments
	for _, comment := range slices.Backward(comments.Nodes) { // they are newest first
		show(comment)
	}
	var cursor string // stands for the beginning, if there are no comments yet
	if newest := comments.PageInfo.StartCursor; newest != nil {
		cursor = *newest
	}

	for tries := 0; ; tries++ {
		began := time.Now()
		err := b.follow(ctx, postID, &cursor)
		switch {
		case err == nil:
			fmt.Println("The post was deleted.")
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case websocket.CloseStatus(err) == expired: // a program with a sign-in gets a new token here
			return fmt.Errorf("the token is no longer valid: %w", err)
		case len(errorsOf(err)) > 0 && retryAfter(err) == 0:
			return err
		}
		if time.Since(began) > time.Minute {
			tries = 0
		}
		fmt.Fprintln(os.Stderr, "Connecting again, because the connection was lost:", describe(err))
		pause(ctx, max(retryAfter(err), time.Second<<min(tries, 4)))
	}
}

func show(comment CommentLine) {
	when := "" // only beside an error
	if comment.CreationDate != nil {
		when = comment.CreationDate.Local().Format(time.TimeOnly)
	}
	fmt.Printf("%s  %s: %s\n", when, comment.Author.Username, comment.Excerpt)
}

// pause waits for one to two times a duration. As it is random, the clients of a server that
// stopped do not all connect at the same time.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d + rand.N(d)):
	case <-ctx.Done():
	}
}

// follow prints the new comments of a post over one connection, and moves the cursor with them. It
// returns nil if the subscription is complete, and otherwise why it ended.
func (b blog) follow(ctx context.Context, postID string, cursor *string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var options []graphql.WebSocketOption
	if b.token != "" {
		options = append(options, graphql.WithConnectionParams(map[string]any{"Authorization": "Bearer " + b.token}))
	}
	client := graphql.NewClientUsingWebSocket(strings.Replace(b.url, "http", "ws", 1), dialer{ctx}, options...)
	lost, err := client.Start(ctx)
	if err != nil {
		return err
	}
	answers, _, err := CommentAdded(ctx, client, postID, *cursor)
	if err != nil {
		cancel()
		<-lost
		return err
	}
	fmt.Fprintln(os.Stderr, "Waiting for comments. Ctrl-C ends this.")

	// cancel closes the connection. genqlient then sends one error to lost, also after the end of the
	// subscription. Its method Close is not used, because it panics after that end.
	var end error
	isComplete := false
	for {
		select {
		case answer, isOpen := <-answers:
			switch {
			case !isOpen:
				isComplete, answers = true, nil
				cancel()
			case len(answer.Errors) > 0:
				end = answer.Errors
				cancel()
			case answer.Data.CommentAdded != nil:
				show(answer.Data.CommentAdded.Node)
				*cursor = answer.Data.CommentAdded.Cursor
			}
		case err := <-lost:
			if end == nil && !isComplete {
				end = err
			}
			return end
		}
	}
}

// dialer opens WebSockets for genqlient. They are closed when the context ends.
type dialer struct{ lifetime context.Context }

func (d dialer) DialContext(ctx context.Context, url string, header http.Header) (graphql.WSConn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	connection, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPHeader:   header,
		Subprotocols: []string{"graphql-transport-ws"},
	})
	if err != nil {
		return nil, err
	}
	connection.SetReadLimit(16 << 20) // the library's limit is 32 KiB, and an answer can be longer
	s := socket{connection, d.lifetime}
	go s.keepAlive()
	return s, nil
}

// socket is a WebSocket in the form that genqlient wants.
type socket struct {
	*websocket.Conn
	lifetime context.Context
}

// keepAlive closes the connection if the server does not answer a ping, for example because the
// network is gone. Otherwise, a reader would wait for minutes.
func (s socket) keepAlive() {
	for s.lifetime.Err() == nil {
		ctx, cancel := context.WithTimeout(s.lifetime, 10*time.Second)
		err := s.Ping(ctx)
		cancel()
		if err != nil {
			_ = s.CloseNow()
			return
		}
		pause(s.lifetime, 10*time.Second)
	}
}

func (s socket) WriteMessage(kind int, message []byte) error {
	return s.Write(s.lifetime, websocket.MessageType(kind), message)
}

// ReadMessage returns the next message. A message of the type error has the errors of a
// subscription that is not valid. genqlient does not know it, so it becomes an answer with these
// errors.
func (s socket) ReadMessage() (int, []byte, error) {
	kind, message, err := s.Read(s.lifetime)
	if err != nil {
		return 0, nil, err
	}
	var m struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return 0, nil, err
	}
	if m.Type == "error" {
		message, err = json.Marshal(map[string]any{
			"id": m.ID, "type": "next", "payload": map[string]any{"errors": m.Payload},
		})
	}
	return int(kind), message, err
}

func (s socket) Close() error { return s.CloseNow() }
