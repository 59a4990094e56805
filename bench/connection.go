package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// connection is a keep-alive HTTP/1.1 connection. It costs the generator little: requests are
// bytes that were prepared before, and of a response it parses only the status, the length and
// the coding. One goroutine uses it at a time.
type connection struct {
	conn   net.Conn
	unread []byte // the part of buffer that was read and not returned
	buffer []byte
	body   []byte // decoded chunks, used again by each response
}

// answer is a response. Its bytes are valid until the next exchange of the connection.
type answer struct {
	status int
	head   []byte // status line and header lines, each with its \r\n
	body   []byte // without chunks, but still in its content coding
}

// maxAnswerBytes is more than any server in a benchmark sends. It bounds the memory for a
// malformed response.
const maxAnswerBytes = 64 << 20

func dial(address string) (*connection, error) {
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, buffer: make([]byte, 64<<10)}, nil
}

// exchange sends a request and reads its whole response. After an error, the connection must be
// closed.
func (c *connection) exchange(request []byte) (answer, error) {
	if _, err := c.conn.Write(request); err != nil {
		return answer{}, err
	}
	head, err := c.readHead()
	if err != nil {
		return answer{}, err
	}
	a := answer{head: head}
	if a.status, err = statusOf(head); err != nil {
		return answer{}, err
	}
	switch length, isChunked := header(head, "Content-Length"), header(head, "Transfer-Encoding"); {
	case string(isChunked) == "chunked":
		a.body, err = c.readChunks()
	case length != nil:
		var n int
		if n, err = strconv.Atoi(string(length)); err != nil || n < 0 {
			return answer{}, fmt.Errorf("malformed Content-Length: %s", length)
		}
		a.body, err = c.readBody(n)
	default:
		return answer{}, fmt.Errorf("a response without Content-Length and chunks:\n%s", head)
	}
	// The buffer may have grown or moved since readHead.
	a.head = c.buffer[:len(head)]
	return a, err
}

// readHead reads to the end of the header. It moves unread bytes to the start of the buffer, so
// that the header begins there.
func (c *connection) readHead() ([]byte, error) {
	n := copy(c.buffer, c.unread)
	c.unread = c.buffer[:n]
	for {
		if end := bytes.Index(c.unread, []byte("\r\n\r\n")); end >= 0 {
			head := c.unread[:end+2]
			c.unread = c.unread[end+4:]
			return head, nil
		}
		if err := c.read(); err != nil {
			return nil, err
		}
	}
}

// readBody reads n bytes after the header.
func (c *connection) readBody(n int) ([]byte, error) {
	if n > maxAnswerBytes {
		return nil, fmt.Errorf("a response of %d bytes", n)
	}
	for len(c.unread) < n {
		if err := c.read(); err != nil {
			return nil, err
		}
	}
	body := c.unread[:n]
	c.unread = c.unread[n:]
	return body, nil
}

// readChunks reads chunks (RFC 9112, section 7.1) until the last one, without trailers.
func (c *connection) readChunks() ([]byte, error) {
	c.body = c.body[:0]
	for {
		line, err := c.readLine()
		if err != nil {
			return nil, err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 31)
		if err != nil || len(c.body)+int(n) > maxAnswerBytes {
			return nil, fmt.Errorf("malformed chunk size: %q", line)
		}
		chunk, err := c.readBody(int(n))
		if err != nil {
			return nil, err
		}
		c.body = append(c.body, chunk...)
		end, err := c.readLine()
		if err != nil {
			return nil, err
		}
		if len(end) > 0 {
			return nil, fmt.Errorf("malformed end of a chunk: %q", end)
		}
		if n == 0 {
			return c.body, nil
		}
	}
}

// readLine returns a line without its \r\n.
func (c *connection) readLine() ([]byte, error) {
	for {
		if end := bytes.Index(c.unread, []byte("\r\n")); end >= 0 {
			line := c.unread[:end]
			c.unread = c.unread[end+2:]
			return line, nil
		}
		if err := c.read(); err != nil {
			return nil, err
		}
	}
}

// read appends to unread, in the buffer. It enlarges the buffer if it is full. The header stays at
// the start of the buffer.
func (c *connection) read() error {
	start := cap(c.buffer) - cap(c.unread)
	end := start + len(c.unread)
	if end == len(c.buffer) {
		if end > 2*maxAnswerBytes {
			return errors.New("the response does not end")
		}
		c.buffer = append(c.buffer, make([]byte, len(c.buffer))...)
		c.buffer = c.buffer[:cap(c.buffer)]
	}
	n, err := c.conn.Read(c.buffer[end:])
	c.unread = c.buffer[start : end+n]
	if n > 0 {
		return nil
	}
	return err
}

// statusOf returns the status code of a header.
func statusOf(head []byte) (int, error) {
	const prefix = "HTTP/1.1 "
	if !bytes.HasPrefix(head, []byte(prefix)) || len(head) < len(prefix)+3 {
		return 0, fmt.Errorf("not a response of HTTP/1.1: %q", head)
	}
	return strconv.Atoi(string(head[len(prefix) : len(prefix)+3]))
}

// header returns the first value of a header field, or nil. name must not be a suffix of another
// field's name.
func header(head []byte, name string) []byte {
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name)) {
			return bytes.TrimSpace(line[len(name)+1:])
		}
	}
	return nil
}

func (c *connection) close() { _ = c.conn.Close() }
