package sessions_test

import (
	"net/http"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
)

// TestPresentUserIsThrottled ends an operation that has read an earlier state of its user than the
// token says, while the account throttles reads of the user. The token stays as it is.
func TestPresentUserIsThrottled(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	s := sessions.New(w.DB, 5*time.Millisecond)
	sent := sessions.Token{User: &sessions.User{ID: ada.ID, Revision: 99, Username: "lost"}}
	ctx, x := s.Begin(w.Ctx(), ada.ID, sent)
	user, err := w.User(ctx, ada.ID)
	w.OK(err)
	x.UserRead(ada.ID, user)
	w.Wire.Inject(cosmostest.Refuse(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1"))
	if token := x.Finish(ctx, false, false); token.User != nil {
		t.Errorf("the token is %+v", token)
	}
	w.Wire.Inject(nil)
	if token := x.Finish(ctx, false, false); token.User == nil || token.User.Revision != user.Revision {
		t.Errorf("the token is %+v", token)
	}
}

// TestLaggingRangeIsNotLost rejects the token of a client in one feed range, after which a replica
// that lags answers in another one. The token of the answer keeps the position there.
func TestLaggingRangeIsNotLost(t *testing.T) {
	account := cosmostest.New(t, cosmostest.Options{Follower: true})
	first, err := provision.OpenEmbedded(t.Context(), account, cosmos.Options{Transport: storetest.Divided(account, 4)})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	w := (&storetest.World{T: t, Account: account, Clock: storetest.NewStillClock(time.Now())}).Another()
	ada := w.AddUser("Ada")
	rejected := w.AddPost(ada)
	other := w.AddPost(ada)
	for rangeOf(w, other) == rangeOf(w, rejected) {
		other = w.AddPost(ada)
	}
	account.Follower.CatchUp()
	account.Follower.Hold()
	ctx, x := sessions.New(w.DB, 5*time.Millisecond).Begin(w.Ctx(), "", sessions.Token{})
	for _, post := range []*blog.Post{rejected, other} {
		_, err := w.CreateComment(ctx, ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
		w.OK(err)
	}
	token := x.Finish(ctx, true, false)

	wire := account.NewTransport()
	db, err := provision.OpenEmbedded(t.Context(), account, cosmos.Options{Transport: wire})
	w.OK(err)
	t.Cleanup(db.Close)
	server := storetest.Open(db)
	ctx, x = sessions.New(db, 5*time.Millisecond).Begin(w.Ctx(), "", token)
	reads := 0
	wire.Inject(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if target, _ := cosmos.TargetOf(request); target.Operation == cosmos.OperationRead && reads < 2 {
			reads++
			return cosmostest.Refuse(http.StatusNotFound, "X-Ms-Substatus: 1002")(i, request, next)
		}
		return next.Do(request)
	})
	for _, post := range []*blog.Post{rejected, other} {
		_, err := server.Post(ctx, post.ID)
		w.OK(err)
	}
	if !x.IsStale(ctx) {
		t.Error("the answer is not stale")
	}
	if healed := x.Finish(ctx, false, false); len(healed.Written) > 0 {
		t.Errorf("the token is %s, after %s", healed.Written, token.Written)
	}
}

// rangeOf returns the id of the feed range of a post.
func rangeOf(w *storetest.World, post *blog.Post) (id string) {
	ctx := cosmos.WithSession(w.Ctx())
	_, err := w.Post(ctx, post.ID)
	w.OK(err)
	for id = range cosmos.SeenInSession(ctx)[schema.Posts] {
	}
	return id
}
