package store_test

import (
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
)

// TestServerWithWrongClock writes through a server whose clock is wrong. All dates are in the
// database's time, and reservations age by it.
func TestServerWithWrongClock(t *testing.T) {
	for name, skew := range map[string]time.Duration{"a year ahead": 365 * 24 * time.Hour, "an hour behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			right := newWorld(t)
			wrong := right.AnotherAt(storetest.NewStillClock(right.Clock.Now().Add(skew)), nil)
			ada := wrong.AddUser("Ada")
			post := wrong.AddPost(ada)
			comment := wrong.AddComment(ada, post)
			edited, err := wrong.UpdateComment(t.Context(), ada.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: "Edited."})
			right.OK(err)
			like, err := wrong.LikePost(t.Context(), ada, post.ID)
			right.OK(err)
			for what, date := range map[string]blog.DateTime{
				"user": ada.CreationDate, "post": post.CreationDate, "comment": comment.CreationDate,
				"edit": edited.UpdatedDate, "like": like.CreationDate,
			} {
				if off := date.Time().Sub(right.Clock.Now()); off.Abs() > 2*time.Second {
					t.Errorf("the date of the %s is off by %v", what, off)
				}
			}
			crashing := right.another()
			crashing.Wire.Inject(cosmostest.From(5, storetest.CutBefore)) // before the user takes the reserved username
			_, err = crashing.CreateUser(t.Context(), storetest.Account("bob"), "Bob")
			right.Fails(err, blog.Unavailable)
			_, err = wrong.UpdateUser(t.Context(), ada.ID, "Bob")
			right.Fails(err, blog.UsernameTaken)
			right.Clock.Advance(store.ReservationAge + 2*time.Second)
			wrong.Clock.Advance(store.ReservationAge + 2*time.Second)
			_, err = wrong.UpdateUser(t.Context(), ada.ID, "Bob")
			right.OK(err)
		})
	}
}
