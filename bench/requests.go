package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// head is the first part of the requests of one client to one path: all but the length and the
// body.
type head []byte

// newHead returns the head of GraphQL requests. token and coding may be empty.
func newHead(host, path, token, coding string) head {
	text := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: */*\r\n", path, host)
	if token != "" {
		text = fmt.Appendf(text, "Authorization: Bearer %s\r\n", token)
	}
	if coding != "" {
		text = fmt.Appendf(text, "Accept-Encoding: %s\r\n", coding)
	}
	return append(text, "Content-Length: "...)
}

// append appends a request with a body to a buffer.
func (h head) append(buffer, body []byte) []byte {
	buffer = append(buffer, h...)
	buffer = strconv.AppendInt(buffer, int64(len(body)), 10)
	buffer = append(buffer, "\r\n\r\n"...)
	return append(buffer, body...)
}

// encodeBody returns the body of a GraphQL request.
func encodeBody(document string, variables any) []byte {
	text, err := json.Marshal(struct {
		Query     string `json:"query"`
		Variables any    `json:"variables,omitempty"`
	}{document, variables})
	if err != nil {
		panic(err) // variables are strings and decoded JSON
	}
	return text
}

// recorded are requests that are repeated in turn. If bodies is not nil, each answer must have
// exactly the recorded body.
type recorded struct {
	requests [][]byte
	bodies   [][]byte
}

func (r *recorded) Append(buffer []byte, n int) ([]byte, error) {
	return append(buffer, r.requests[n%len(r.requests)]...), nil
}

func (r *recorded) Check(n int, a answer) error {
	if r.bodies == nil {
		return checkAnswer(a)
	}
	if want := r.bodies[n%len(r.bodies)]; a.status != 200 || !bytes.Equal(a.body, want) {
		if err := checkAnswer(a); err != nil {
			return err
		}
		return fmt.Errorf("an answer of %d bytes differs from the first one of %d: %s", len(a.body), len(want), excerpt(a.body))
	}
	return nil
}

// record sends each request once and returns them with their answers.
func record(address string, requests [][]byte) (*recorded, []answer, error) {
	c, err := dial(address)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	r := &recorded{requests: requests}
	var answers []answer
	for _, request := range requests {
		a, err := c.exchange(request)
		if err != nil {
			return nil, nil, err
		}
		if err := checkAnswer(a); err != nil {
			return nil, nil, err
		}
		a.head, a.body = slices.Clone(a.head), slices.Clone(a.body)
		answers = append(answers, a)
		r.bodies = append(r.bodies, a.body)
	}
	return r, answers, nil
}

// mutations are requests by different users, each different from all others. Request n is by
// user n modulo the number of users, on post n modulo the number of posts. The two numbers are
// coprime, so that each pair of them occurs once before any occurs again.
type mutations struct {
	users  []head
	posts  []string
	isOnce bool // each pair of user and post may occur once only
	body   func(buffer []byte, post string, n int) []byte
}

var errNoMoreLikes = errors.New("every user of the benchmark likes every post: use --users with a larger number")

func (m *mutations) Append(buffer []byte, n int) ([]byte, error) {
	if m.isOnce && n >= len(m.users)*len(m.posts) {
		return nil, errNoMoreLikes
	}
	var scratch [1024]byte
	return m.users[n%len(m.users)].append(buffer, m.body(scratch[:0], m.posts[n%len(m.posts)], n)), nil
}

func (m *mutations) Check(_ int, a answer) error { return checkAnswer(a) }
