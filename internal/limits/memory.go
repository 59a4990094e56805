package limits

import "context"

// Memory is what one operation may take of the memory that all operations of a server share.
type Memory interface {
	// Take counts bytes that the operation has read. It returns false if the server has no room for
	// them. It may be called concurrently.
	Take(bytes int) bool
}

type memoryKey struct{}

// WithMemory returns the context of an operation that takes its memory from m.
func WithMemory(ctx context.Context, m Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// MemoryOf returns the memory of a context's operation, or nil if it is not counted.
func MemoryOf(ctx context.Context) Memory {
	m, _ := ctx.Value(memoryKey{}).(Memory)
	return m
}
