package graph_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
)

// damaged are resolvers some of whose results are errors, panics, null, or objects that break the
// schema. The seed and the path of a field decide which.
type damaged struct {
	graph.ResolverRoot
	seed *uint64 // 0 for no damage
}

func (d damaged) Query() graph.QueryResolver     { return damagedQuery{d.ResolverRoot.Query(), d} }
func (d damaged) User() graph.UserResolver       { return damagedUser{d.ResolverRoot.User(), d} }
func (d damaged) Post() graph.PostResolver       { return damagedPost{d.ResolverRoot.Post(), d} }
func (d damaged) Comment() graph.CommentResolver { return damagedComment{d.ResolverRoot.Comment(), d} }
func (d damaged) Like() graph.LikeResolver       { return damagedLike{d.ResolverRoot.Like(), d} }
func (d damaged) Tag() graph.TagResolver         { return damagedTag{d.ResolverRoot.Tag(), d} }

var errDamage = errors.New("a resolver failed")

// damage returns a result of a resolver, often changed.
func damage[T any](ctx context.Context, d damaged, value T, err error, change func(*rand.Rand, T) T) (T, error) {
	if *d.seed == 0 || err != nil {
		return value, err
	}
	path := fnv.New64a()
	_, _ = path.Write([]byte(graphql.GetPath(ctx).String()))
	random := rand.New(rand.NewPCG(*d.seed, path.Sum64()))
	var none T
	switch random.IntN(30) {
	case 0:
		return none, errDamage
	case 1:
		panic("a resolver panics")
	case 2:
		return none, nil
	}
	return change(random, value), nil
}

const strange = "\"\\\x00\x01\x1f\t\r\n\x7f\xff\u2028😀é</script>"

func damageUser(random *rand.Rand, user *blog.User) *blog.User {
	if user == nil || random.IntN(8) > 0 {
		return user
	}
	changed := *user
	changed.Username = strange
	return &changed
}

// undamaged are the posts that damagePost changed, by their changes.
var undamaged sync.Map

func damagePost(random *rand.Rand, post *blog.Post) *blog.Post {
	if post == nil || random.IntN(8) > 0 {
		return post
	}
	changed := *post
	undamaged.Store(&changed, post)
	switch random.IntN(8) {
	case 0:
		return nil
	case 6:
		changed.RecentComments = nil // as an entry
	case 7:
		changed.Tags = []string{strange, ""}
	case 1:
		changed.Author = nil
	case 2:
		changed.CreationDate = ""
	case 3:
		changed.Title, changed.Excerpt = strange, ""
	case 4:
		changed.UpdatedDate, changed.Version = post.CreationDate, -1
	case 5:
		changed.Author = &blog.User{ID: "u_x", Username: strange}
	}
	return &changed
}

func damageComment(random *rand.Rand, comment *blog.Comment) *blog.Comment {
	if comment == nil || random.IntN(8) > 0 {
		return comment
	}
	changed := *comment
	switch random.IntN(4) {
	case 0:
		changed.Post = nil // Ref panics
	case 1:
		changed.Author = nil
	case 2:
		changed.CreationDate = ""
	case 3:
		changed.Content = strange
	}
	return &changed
}

func damageLike(random *rand.Rand, like *blog.Like) *blog.Like {
	if like == nil || random.IntN(8) > 0 {
		return like
	}
	changed := *like
	if random.IntN(2) == 0 {
		changed.User = nil // Ref panics
	}
	changed.CreationDate = ""
	return &changed
}

// damageNode damages the node of a list of nodes.
func damageNode(random *rand.Rand, node model.Node) model.Node {
	switch node := node.(type) {
	case *blog.User:
		return damageUser(random, node)
	case *blog.Post:
		return damagePost(random, node)
	case *blog.Comment:
		return damageComment(random, node)
	case *blog.Like:
		return damageLike(random, node)
	}
	return node
}

// damageConnection returns a function that damages a page and its elements.
func damageConnection[T any](element func(*rand.Rand, T) T) func(*rand.Rand, *model.Connection[T]) *model.Connection[T] {
	return func(random *rand.Rand, connection *model.Connection[T]) *model.Connection[T] {
		changed := *connection
		changed.Page.Items, changed.Page.Text = slices.Clone(connection.Page.Items), nil
		for i, item := range changed.Page.Items {
			changed.Page.Items[i] = element(random, item)
		}
		switch random.IntN(12) {
		case 0:
			changed.Page.Positions = nil // Edges panics
		case 1:
			changed.Page.Items = nil
		}
		return &changed
	}
}

type damagedQuery struct {
	graph.QueryResolver
	by damaged
}

func (q damagedQuery) Viewer(ctx context.Context) (*blog.User, error) {
	user, err := q.QueryResolver.Viewer(ctx)
	return damage(ctx, q.by, user, err, damageUser)
}

func (q damagedQuery) Post(ctx context.Context, id blog.Ref) (*blog.Post, error) {
	post, err := q.QueryResolver.Post(ctx, id)
	return damage(ctx, q.by, post, err, damagePost)
}

func (q damagedQuery) Feed(ctx context.Context, first *int, after *string) (*model.PostConnection, error) {
	page, err := q.QueryResolver.Feed(ctx, first, after)
	return damage(ctx, q.by, page, err, damageConnection(damagePost))
}

func (q damagedQuery) Node(ctx context.Context, id blog.Ref) (model.Node, error) {
	node, err := q.QueryResolver.Node(ctx, id)
	return damage(ctx, q.by, node, err, damageNode)
}

func (q damagedQuery) Nodes(ctx context.Context, ids []*blog.Ref) ([]model.Node, error) {
	nodes, err := q.QueryResolver.Nodes(ctx, ids)
	return damage(ctx, q.by, nodes, err, func(random *rand.Rand, nodes []model.Node) []model.Node {
		changed := slices.Clone(nodes)
		for i, node := range changed {
			changed[i] = damageNode(random, node)
		}
		return changed
	})
}

// alone returns a context in which a resolver does not look at the other elements of the list. It
// would panic at damaged ones, but only if it is the first that looks.
func (d damaged) alone(ctx context.Context) context.Context {
	if *d.seed == 0 {
		return ctx
	}
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Field: graphql.CollectedField{Field: &ast.Field{Name: "post"}}})
}

func same[T any](_ *rand.Rand, value T) T { return value }

type damagedUser struct {
	graph.UserResolver
	by damaged
}

func (u damagedUser) CreationDate(ctx context.Context, user *blog.User) (*blog.DateTime, error) {
	date, err := u.UserResolver.CreationDate(u.by.alone(ctx), user)
	return damage(ctx, u.by, date, err, same)
}

func (u damagedUser) PostCount(ctx context.Context, user *blog.User) (*int, error) {
	count, err := u.UserResolver.PostCount(u.by.alone(ctx), user)
	return damage(ctx, u.by, count, err, same)
}

func (u damagedUser) Posts(ctx context.Context, user *blog.User, first *int, after *string) (*model.PostConnection, error) {
	page, err := u.UserResolver.Posts(u.by.alone(ctx), user, first, after)
	return damage(ctx, u.by, page, err, damageConnection(damagePost))
}

type damagedPost struct {
	graph.PostResolver
	by damaged
}

func (p damagedPost) Content(ctx context.Context, post *blog.Post) (*string, error) {
	content, err := p.PostResolver.Content(p.by.alone(ctx), post)
	return damage(ctx, p.by, content, err, same)
}

func (p damagedPost) ViewerHasLiked(ctx context.Context, post *blog.Post) (*bool, error) {
	liked, err := p.PostResolver.ViewerHasLiked(p.by.alone(ctx), post)
	return damage(ctx, p.by, liked, err, same)
}

// PreviousByAuthor is read once for all copies of a post, by the author and the date of one of
// them. Which one it is must not matter.
func (p damagedPost) PreviousByAuthor(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	if original, ok := undamaged.Load(post); ok {
		post = original.(*blog.Post)
	}
	return p.PostResolver.PreviousByAuthor(ctx, post)
}

func (p damagedPost) Comments(ctx context.Context, post *blog.Post, first *int, after *string, order *blog.CommentOrder) (*model.CommentConnection, error) {
	page, err := p.PostResolver.Comments(p.by.alone(ctx), post, first, after, order)
	return damage(ctx, p.by, page, err, damageConnection(damageComment))
}

func (p damagedPost) Likes(ctx context.Context, post *blog.Post, first *int, after *string) (*model.LikeConnection, error) {
	page, err := p.PostResolver.Likes(p.by.alone(ctx), post, first, after)
	return damage(ctx, p.by, page, err, damageConnection(damageLike))
}

type damagedTag struct {
	graph.TagResolver
	by damaged
}

func (t damagedTag) PostCount(ctx context.Context, tag *blog.Tag) (*int, error) {
	count, err := t.TagResolver.PostCount(t.by.alone(ctx), tag)
	return damage(ctx, t.by, count, err, same)
}

func (t damagedTag) Posts(ctx context.Context, tag *blog.Tag, first *int, after *string) (*model.PostConnection, error) {
	page, err := t.TagResolver.Posts(t.by.alone(ctx), tag, first, after)
	return damage(ctx, t.by, page, err, damageConnection(damagePost))
}

type damagedComment struct {
	graph.CommentResolver
	by damaged
}

func (c damagedComment) Post(ctx context.Context, comment *blog.Comment) (*blog.Post, error) {
	post, err := c.CommentResolver.Post(c.by.alone(ctx), comment)
	return damage(ctx, c.by, post, err, damagePost)
}

type damagedLike struct {
	graph.LikeResolver
	by damaged
}

func (l damagedLike) Post(ctx context.Context, like *blog.Like) (*blog.Post, error) {
	post, err := l.LikeResolver.Post(l.by.alone(ctx), like)
	return damage(ctx, l.by, post, err, damagePost)
}
