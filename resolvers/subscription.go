package resolvers

import (
	"context"
	"errors"
	"io"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
	"cosmosblog/internal/stream"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// subscriptionResolver begins streams, and returns the values of their events (package stream).
type subscriptionResolver struct{ *Resolver }

var _ graph.SubscriptionResolver = subscriptionResolver{}

// PostChanged resolves Subscription.postChanged.
func (r subscriptionResolver) PostChanged(ctx context.Context, id blog.Ref) (<-chan *blog.Post, error) {
	if err := checkType("id", id, blog.TypePost); err != nil {
		return nil, err
	}
	return valueOrStream[*blog.Post](ctx, func(*stream.Opening) (stream.Stream, error) {
		changed, stop := r.store.WatchPost(id.ID)
		return &postStream{store: r.store, id: id.ID, changed: changed, stop: stop}, nil
	})
}

// CommentAdded resolves Subscription.commentAdded.
func (r subscriptionResolver) CommentAdded(ctx context.Context, postID blog.Ref, after *string) (<-chan *model.CommentEdge, error) {
	if err := checkType("postId", postID, blog.TypePost); err != nil {
		return nil, err
	}
	return valueOrStream[*model.CommentEdge](ctx, func(o *stream.Opening) (stream.Stream, error) {
		s := &commentStream{store: r.store, list: model.CommentsList(postID.ID), postID: postID.ID}
		if o.After != "" {
			after = &o.After
		}
		if after != nil {
			position, err := s.list.Position(*after)
			if err != nil {
				return nil, blog.AtField(err, "after")
			}
			s.after, s.isPlaced = &position, true
		}
		s.changed, s.stop = r.store.WatchPost(postID.ID)
		return s, nil
	})
}

// valueOrStream returns the value of the context's event. Without an event, it makes the stream.
func valueOrStream[T any](ctx context.Context, open func(*stream.Opening) (stream.Stream, error)) (<-chan T, error) {
	values := make(chan T, 1)
	defer close(values)
	if e, ok := stream.EventOf(ctx); ok {
		values <- e.Value.(T)
		return values, nil
	}
	opening := stream.OpeningOf(ctx)
	opened, err := open(opening)
	if err == nil {
		opening.Stream = meteredStream{opened}
	}
	return values, err
}

// meteredStream adds to the events of a stream what it has spent for them.
type meteredStream struct{ stream.Stream }

// Next implements stream.Stream.
func (s meteredStream) Next(ctx context.Context) (stream.Event, error) {
	ctx, meter := cosmos.Metered(ctx)
	e, err := s.Stream.Next(ctx)
	e.Spent = meter.Spent()
	return e, err
}

// postStream sends the states of a post.
type postStream struct {
	store   *store.Store
	id      string
	changed <-chan struct{}
	stop    func()

	sent     bool
	revision int64 // of the state that was sent last
}

// Next implements stream.Stream. Errors: NOT_FOUND if there is no such post at the beginning, and
// those of the store.
func (s *postStream) Next(ctx context.Context) (stream.Event, error) {
	for {
		post, err := s.store.Post(s.store.AfterChange(ctx), s.id)
		switch isGone := err != nil && blog.CodeOf(err) == blog.NotFound; {
		case isGone && s.sent:
			return stream.Event{Value: (*blog.Post)(nil), IsState: true, IsLast: true}, nil
		case err != nil && !errors.Is(err, store.ErrContentLost):
			return stream.Event{}, err
		case !s.sent || post.Revision > s.revision:
			s.sent, s.revision = true, post.Revision
			return stream.Event{Value: withOwnName(ctx, post), IsState: true}, nil
		}
		if err := wait(ctx, s.changed); err != nil {
			return stream.Event{}, err
		}
	}
}

// Close implements stream.Stream.
func (s *postStream) Close() { s.stop() }

// commentsOfStream is the number of comments that a stream reads at once.
const commentsOfStream = 20

// commentStream sends the comments of a post that are created after a position. The procedure that
// creates a comment dates it after all others of the post, so none appears before the position.
type commentStream struct {
	store   *store.Store
	list    model.List
	postID  string
	changed <-chan struct{}
	stop    func()

	isPlaced bool // after is the position to begin at
	isBegun  bool
	after    *blog.Position // nil before the first comment
	edges    []model.CommentEdge
}

// Next implements stream.Stream. Errors: NOT_FOUND if there is no such post at the beginning; those
// of the store.
func (s *commentStream) Next(ctx context.Context) (stream.Event, error) {
	if !s.isBegun {
		if err := s.begin(ctx); err != nil {
			return stream.Event{}, err
		}
	}
	for len(s.edges) == 0 {
		page, err := s.store.Comments(s.store.AfterChange(ctx), s.postID, blog.PageRequest{First: commentsOfStream, After: s.after})
		if err != nil {
			return stream.Event{}, err
		}
		connection := model.CommentConnection{List: s.list, Page: page}
		if s.edges = connection.Edges(); len(s.edges) > 0 {
			s.after = &page.Positions[len(page.Positions)-1]
			break
		}
		if err := s.waitForChange(ctx); err != nil {
			return stream.Event{}, err
		}
	}
	edge := &s.edges[0]
	s.edges = s.edges[1:]
	own := *edge
	own.Node = withOwnName(ctx, edge.Node)
	return stream.Event{Value: &own, Cursor: own.Cursor()}, nil
}

// begin checks that there is such a post, and places the stream after the newest comment unless it
// has a position. Error: NOT_FOUND.
func (s *commentStream) begin(ctx context.Context) error {
	err := s.checkPost(ctx)
	if err != nil || s.isPlaced {
		s.isBegun = err == nil
		return err
	}
	page, err := s.store.Comments(ctx, s.postID, blog.PageRequest{First: 1, Order: blog.NewestFirst})
	if err != nil {
		return err
	}
	if len(page.Positions) > 0 {
		s.after = &page.Positions[0]
	}
	s.isPlaced, s.isBegun = true, true
	return nil
}

// waitForChange waits until the post changes. Error: io.EOF if it was deleted.
func (s *commentStream) waitForChange(ctx context.Context) error {
	if err := wait(ctx, s.changed); err != nil {
		return err
	}
	err := s.checkPost(ctx)
	if err != nil && blog.CodeOf(err) == blog.NotFound {
		return io.EOF
	}
	return err
}

// checkPost checks that the post exists. Error: NOT_FOUND.
func (s *commentStream) checkPost(ctx context.Context) error {
	posts, err := s.store.Posts(s.store.AfterChange(ctx), []string{s.postID})
	if err == nil && posts[s.postID] == nil {
		return store.ErrNoPost
	}
	return err
}

// Close implements stream.Stream.
func (s *commentStream) Close() { s.stop() }

// wait waits for a signal. Error: ctx's.
func wait(ctx context.Context, signal <-chan struct{}) error {
	select {
	case <-signal:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
