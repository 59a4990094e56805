package resolvers

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/graph/stream"
	"cosmosblog/guard/request"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// subscriptionResolver opens streams (package stream).
type subscriptionResolver struct{ *Resolver }

var _ graph.SubscriptionResolver = subscriptionResolver{}

// PostChanged resolves Subscription.postChanged.
func (r subscriptionResolver) PostChanged(ctx context.Context, id blog.Ref) (<-chan *blog.Post, error) {
	if err := checkType("id", id, blog.TypePost); err != nil {
		return nil, err
	}
	changed, stop := r.store.WatchPost(id.ID)
	r.open(ctx, &postStream{store: r.store, id: id.ID, changed: changed, stop: stop, hasLists: selectsListsOfPost(ctx)})
	return nil, nil
}

// selectsListsOfPost reports whether the post that the field of ctx returns is selected with its
// comments or likes.
func selectsListsOfPost(ctx context.Context) bool {
	selections := graphql.GetFieldContext(ctx).Field.Selections
	return slices.ContainsFunc(graphql.CollectFields(graphql.GetOperationContext(ctx), selections, []string{"Post", "Node"}), func(f graphql.CollectedField) bool {
		return f.Name == "comments" || f.Name == "likes"
	})
}

// CommentAdded resolves Subscription.commentAdded.
func (r subscriptionResolver) CommentAdded(ctx context.Context, postID blog.Ref, after *string) (<-chan *model.CommentEdge, error) {
	if err := checkType("postId", postID, blog.TypePost); err != nil {
		return nil, err
	}
	s := &commentStream{store: r.store, list: model.CommentsList(postID.ID), postID: postID.ID}
	switch after = resumedAfter(ctx, after); {
	case after == nil: // begin places the stream
	case *after == "": // an empty list has no cursor
		s.after = new(blog.Position) // before all comments
	default:
		position, err := s.list.Position(*after)
		if err != nil {
			return nil, blog.AtField(err, "after")
		}
		s.after = &position
	}
	s.changed, s.stop = r.store.WatchPost(postID.ID)
	r.open(ctx, s)
	return nil, nil
}

// PostPublished resolves Subscription.postPublished.
func (r subscriptionResolver) PostPublished(ctx context.Context, after *string) (<-chan *model.PostEdge, error) {
	s := &arrivalStream{store: r.store, watch: r.arrivals}
	if after = resumedAfter(ctx, after); after != nil {
		var err error
		if s.after, s.postID, err = arrivalAfter(*after); err != nil {
			return nil, blog.AtField(err, "after")
		}
	}
	s.arrived, s.stop = r.arrivals.listen()
	r.open(ctx, s)
	return nil, nil
}

// arrivalAfter returns the position of a cursor of postPublished, or the post of a cursor of the
// feed. An empty feed has no cursor: an empty text is the position before all posts.
func arrivalAfter(cursor string) (position *blog.Position, postID string, err error) {
	if cursor == "" {
		return new(blog.Position), "", nil
	}
	arrival, err := model.ArrivalsList.Position(cursor)
	if err == nil {
		return &arrival, "", nil
	}
	listed, feedErr := model.FeedList.Position(cursor)
	if feedErr != nil {
		return nil, "", err
	}
	return nil, listed.ID, nil
}

// open opens a stream as the one of ctx. The channel that gqlgen wants of a resolver stays nil.
func (r subscriptionResolver) open(ctx context.Context, e events) {
	stream.Open(ctx, &meteredStream{events: e, follow: r.store.Follow()})
}

// resumedAfter returns the cursor at which a client was interrupted, or the argument `after`.
func resumedAfter(ctx context.Context, after *string) *string {
	if last := request.Of(ctx).LastEventID; last != "" {
		return &last
	}
	return after
}

// events are a stream without what all streams have in common.
type events interface {
	Next(ctx context.Context) (stream.Event, error)
	Close()
}

// meteredStream reads its events in one session. It adds to them what it has spent for them. The
// first event is paid for like a query, what was kept included. Later ones happen to all who watch:
// who sends a request pays for it, and those who get its kept result pay nothing.
type meteredStream struct {
	events
	follow  func(context.Context) context.Context
	isBegun bool
}

// Follow implements stream.Stream.
func (s *meteredStream) Follow(ctx context.Context) context.Context { return s.follow(ctx) }

// Next implements stream.Stream.
func (s *meteredStream) Next(ctx context.Context) (stream.Event, error) {
	ctx, meter := cosmos.Metered(s.follow(ctx))
	e, err := s.events.Next(ctx)
	if e.Spent = meter.Charged(); !s.isBegun {
		e.Spent = meter.Spent()
	}
	s.isBegun = s.isBegun || err == nil
	return e, err
}

// readTime is the time after which a read of a stream is given up.
const readTime = 10 * time.Second

// reading returns a context for the reads of a stream. They are completed if the client
// disconnects, so that their charge is known.
func reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), readTime)
}

// readPost reads the post of a stream, without a long content. Error: NOT_FOUND.
func readPost(ctx context.Context, s *store.Store, id string) (*blog.Post, error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	return s.PostWithoutContent(ctx, id)
}

// postStream sends the states of a post, without a long content: Post.content reads it. If the post
// is edited in between, the content is that of the next state.
//
// An edit of an older comment, or a new name of somebody who liked the post, leaves the post as it
// is. With its comments or likes, a state is therefore one of the partition, and its ID has the
// number of signals of the partition's changes. Equal answers are sent once (package subscription).
type postStream struct {
	store    *store.Store
	id       string
	changed  <-chan struct{}
	stop     func()
	hasLists bool // the selection has comments or likes

	sent     bool
	revision int64  // of the state that was sent last
	signals  uint64 // of changes, before that was read; 0 without hasLists
}

// Next implements stream.Stream. Errors: NOT_FOUND if there is no such post at the beginning, and
// those of the store.
func (s *postStream) Next(ctx context.Context) (stream.Event, error) {
	for {
		signals := uint64(0)
		if s.hasLists {
			signals = s.store.SignalsOfPost(s.id)
		}
		post, err := readPost(ctx, s.store, s.id)
		switch isGone := err != nil && blog.CodeOf(err) == blog.NotFound; {
		case isGone && s.sent:
			return stream.Event{Value: (*blog.Post)(nil), IsState: true, IsLast: true}, nil
		case err != nil:
			return stream.Event{}, err
		case !s.sent || post.Revision > s.revision || signals != s.signals:
			s.sent, s.revision, s.signals = true, post.Revision, signals
			return stream.Event{Value: post, ID: fmt.Sprint(post.Revision, ".", signals), IsState: true}, nil
		}
		if err := wait(ctx, s.changed); err != nil {
			return stream.Event{}, err
		}
		s.store.JoinSignals(ctx)
	}
}

// Close implements stream.Stream.
func (s *postStream) Close() { s.stop() }

// beforeAll is a date that is before those of all elements, and has a cursor.
var beforeAll = blog.NewDateTime(time.UnixMicro(0))

// commentsOfStream is the number of comments that a stream reads at once. They stay in memory while
// they are sent to a slow client.
const commentsOfStream = 10

// commentStream sends the comments of a post that are created after a position. The procedure that
// creates a comment dates it after all others of the post, so none appears before the position.
type commentStream struct {
	store   *store.Store
	list    model.List
	postID  string
	changed <-chan struct{}
	stop    func()

	isBegun   bool
	mustCheck bool           // whether the post still exists
	after     *blog.Position // nil until the stream is placed
	edges     []model.CommentEdge
}

// Next implements stream.Stream. Errors: NOT_FOUND if there is no such post at the beginning; those
// of the store.
func (s *commentStream) Next(ctx context.Context) (stream.Event, error) {
	if !s.isBegun {
		beginsNow := s.after == nil
		if err := s.begin(ctx); err != nil {
			return stream.Event{}, err
		}
		if beginsNow {
			return stream.Event{Cursor: s.list.Cursor(*s.after), IsBeginning: true}, nil
		}
	}
	for len(s.edges) == 0 {
		page, err := s.read(ctx, blog.PageRequest{First: commentsOfStream, After: s.after})
		if err != nil {
			return stream.Event{}, err
		}
		connection := model.CommentConnection{List: s.list, Page: page}
		if s.edges = connection.Edges(); len(s.edges) > 0 {
			s.after = &page.Positions[len(page.Positions)-1]
			break
		}
		if err := s.checkAfterChange(ctx); err != nil {
			return stream.Event{}, err
		}
	}
	edge := &s.edges[0]
	s.edges = s.edges[1:]
	return stream.Event{Value: edge, ID: edge.Node.ID, Cursor: edge.Cursor()}, nil
}

// begin checks that there is such a post, and places the stream after the newest comment unless it
// has a position. Error: NOT_FOUND.
func (s *commentStream) begin(ctx context.Context) error {
	if _, err := readPost(ctx, s.store, s.postID); err != nil {
		return err
	}
	if s.after == nil {
		page, err := s.read(ctx, blog.PageRequest{First: 1, Order: blog.NewestFirst})
		if err != nil {
			return err
		}
		s.after = &blog.Position{CreationDate: beforeAll}
		if len(page.Positions) > 0 {
			s.after = &page.Positions[0]
		}
	}
	s.isBegun = true
	return nil
}

func (s *commentStream) read(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	return s.store.Comments(ctx, s.postID, page)
}

// checkAfterChange waits until the post changes, and checks that it still exists. If that fails,
// the next call checks first. Error: io.EOF if the post was deleted.
func (s *commentStream) checkAfterChange(ctx context.Context) error {
	if !s.mustCheck {
		if err := wait(ctx, s.changed); err != nil {
			return err
		}
		s.store.JoinSignals(ctx)
		s.mustCheck = true
	}
	_, err := readPost(ctx, s.store, s.postID)
	if err != nil && blog.CodeOf(err) == blog.NotFound {
		return io.EOF
	}
	s.mustCheck = err != nil
	return err
}

// Close implements stream.Stream.
func (s *commentStream) Close() { s.stop() }

// postsOfStream is the number of posts that a stream reads at once.
const postsOfStream = 10

// arrivalStream sends the posts that come into the feed after a position. Their dates of arrival
// increase with the transactions, so none appears before the position.
type arrivalStream struct {
	store   *store.Store
	watch   *arrivalWatch
	arrived <-chan struct{}
	stop    func()

	after  *blog.Position // nil until the stream is placed
	postID string         // of the feed, to place the stream after; empty for the last arrival
	hasGap bool           // there may have been posts that are gone
	edges  []model.PostEdge
}

// Next implements stream.Stream. Errors: those of the store.
func (s *arrivalStream) Next(ctx context.Context) (stream.Event, error) {
	for len(s.edges) == 0 {
		beginsNow := s.after == nil
		isNew, err := s.read(ctx)
		if err != nil {
			return stream.Event{}, err
		}
		if beginsNow {
			return stream.Event{Cursor: model.ArrivalsList.Cursor(*s.after), IsBeginning: true}, nil
		}
		if !isNew {
			if err := wait(ctx, s.arrived); err != nil {
				return stream.Event{}, err
			}
		}
	}
	edge := &s.edges[0]
	s.edges = s.edges[1:]
	event := stream.Event{Value: edge, ID: edge.Cursor(), Cursor: edge.Cursor(), HasGap: s.hasGap}
	s.hasGap = false
	return event, nil
}

// read places the stream, or reads the next posts. It reports whether there may be more than it has
// read.
func (s *arrivalStream) read(ctx context.Context) (isNew bool, err error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	s.watch.join(ctx)
	last, _, err := s.store.LastArrivals(ctx)
	if err == nil && s.after == nil {
		return false, s.place(ctx, last)
	}
	if err != nil || last <= s.after.CreationDate {
		return false, err
	}
	page, err := s.store.Arrivals(ctx, blog.PageRequest{First: postsOfStream, After: s.after})
	if err != nil {
		return false, err
	}
	_, trimmed, err := s.store.LastArrivals(ctx) // after the page, or a trim in between would be missed
	if err != nil {
		return false, err
	}
	s.hasGap = s.hasGap || trimmed > s.after.CreationDate
	if n := len(page.Positions); n > 0 {
		s.after = &page.Positions[n-1]
	}
	if !page.HasNextPage && s.after.CreationDate < last { // the last ones were deleted or trimmed
		s.after = &blog.Position{CreationDate: last}
	}
	connection := model.PostConnection{List: model.ArrivalsList, Page: page}
	s.edges = connection.Edges()
	return len(s.edges) > 0, nil
}

// place places the stream after a post of the feed, or after the last arrival. If the post is no
// longer in the feed, the stream begins with all that have arrived.
func (s *arrivalStream) place(ctx context.Context, last blog.DateTime) error {
	if s.postID == "" {
		s.after = &blog.Position{CreationDate: cmp.Or(last, beforeAll)}
		return nil
	}
	date, isListed, err := s.store.ArrivalOf(ctx, s.postID)
	if err == nil {
		s.after, s.hasGap = &blog.Position{CreationDate: cmp.Or(date, beforeAll)}, !isListed
	}
	return err
}

// Close implements stream.Stream.
func (s *arrivalStream) Close() { s.stop() }

// wait waits for a signal. Error: ctx's.
func wait(ctx context.Context, signal <-chan struct{}) error {
	select {
	case <-signal:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
