package limits

import "context"

// Memory is what one operation may take of the memory that all operations of a server share.
type Memory interface {
	// Take counts bytes that the operation has read. It returns false if the server has no room for
	// them. It may be called concurrently.
	Take(bytes int) bool
	// Write counts bytes of the operation's answer before they are copied into it. It returns false if
	// the server has no room for the answer. It may be called concurrently.
	Write(bytes int) bool
}

type (
	memoryKey struct{}
	clientKey struct{}
)

// WithClient returns the context of an operation whose client disconnects when client ends. The
// operation goes on, because the charges of its requests would otherwise be unknown, and so would
// what a mutation has done. It should begin nothing more.
func WithClient(ctx, client context.Context) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// ClientOf returns a context that ends when the client of a context's operation disconnects, or the
// context itself if that is not known.
func ClientOf(ctx context.Context) context.Context {
	if client, ok := ctx.Value(clientKey{}).(context.Context); ok {
		return client
	}
	return ctx
}

// WithMemory returns the context of an operation that takes its memory from m.
func WithMemory(ctx context.Context, m Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// MemoryOf returns the memory of a context's operation, or nil if it is not counted.
func MemoryOf(ctx context.Context) Memory {
	m, _ := ctx.Value(memoryKey{}).(Memory)
	return m
}
