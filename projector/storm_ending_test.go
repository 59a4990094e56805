package projector_test

import (
	"context"
	"fmt"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/views"
)

// end runs the last workload, without faults. Two seeds in a row end by endEditing and the next
// two by endRenaming, because a rename rewrites all views of its user and so hides errors in
// them.
func (s *storm) end(writers []*writer) {
	s.Helper()
	if s.seed/2%2 == 0 {
		s.endEditing(writers)
	} else {
		s.endRenaming(writers)
	}
	if s.replica != nil {
		s.refillFeed(writers[0])
	}
}

// endingSteps is the number of operations at the end of a storm.
func endingSteps() int { return laterSteps() * 2 / 3 }

// endEditing edits a few posts several times each, after all other changes are projected.
// Meanwhile the projectors are suspended with pages they have read, and a new one takes their
// leases. After that has projected the final state, the suspended ones resume with their old
// pages, and learn only later that their leases are lost.
func (s *storm) endEditing(writers []*writer) {
	s.Helper()
	s.settleDown()
	stopped := s.peers
	s.peers = nil
	resume := suspendAll(stopped, func() int { return 0 })
	for _, w := range writers {
		w.faults.setProfile(noFaults, s.transport)
		w.pool.setHot(20)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(writers, []workload{editing}, endingSteps())
	}()
	advanceTime(6 * time.Second)
	resume()
	resume = suspendAll(stopped, func() int { return s.IntN(30) })
	s.launch()
	s.stopFaults()
	advanceTime(time.Second)
	for _, p := range stopped {
		s.freeLeases(p)
	}
	advanceTime(14 * time.Second)
	resume()
	<-written
	s.peers = append(s.peers, stopped...)
}

// refillFeed deletes so many of the newest posts that the feed is refilled, and meanwhile likes the
// posts that take their places. The replica lags by more than a refill takes. No later operation
// changes these posts, which would hide a wrong copy.
func (s *storm) refillFeed(w *writer) {
	s.Helper()
	const n = views.FeedMargin + 10
	for range max(0, views.FeedCapacity+n-len(s.livePosts())) {
		add(w.pool, &w.pool.posts, s.post(s.liveUser(w)))
	}
	advanceTime(10 * time.Second)
	posts := s.livePosts()
	newest, below := posts[:n], posts[views.FeedCapacity:][:n/3]
	s.replica.Trail(refillTrail)
	for _, post := range newest {
		s.delete(post)
		w.forget(post)
	}
	for _, post := range below { // one by one, because a page of changes is one session
		s.like(s.liveUser(w), post)
		time.Sleep(time.Second)
	}
	s.replica.Trail(maxTrail)
}

// refillTrail is the longest lag of a replica during a refill of the feed.
const refillTrail = 20 * time.Second

// livePosts returns all posts, newest first.
func (s *storm) livePosts() []*blog.Post {
	s.Helper()
	source, err := readSource(s.Context(), s.store)
	s.must(err)
	return (&comparison{source: source}).livePosts(func(*blog.Post) bool { return true })
}

// liveUser returns a random user who is not deleted.
func (s *storm) liveUser(w *writer) *blog.User {
	s.Helper()
	users := w.allUsers()
	for _, i := range w.Perm(len(users)) {
		if user, err := s.store.User(s.Context(), users[i].ID); err == nil {
			return user
		}
	}
	return s.user()
}

// settleDown ends all faults and gives the projectors time to take all leases.
func (s *storm) settleDown() {
	s.Helper()
	s.raging.Store(false)
	s.stopFaults()
	s.ended.Wait()
	advanceTime(2 * time.Minute)
}

// suspendAll suspends projectors, each after some more requests.
func suspendAll(peers []*peer, after func() int) (resume func()) {
	var all []func()
	for _, p := range peers {
		resume, openLeases := p.faults.suspend(after(), true)
		all = append(all, resume, func() { time.AfterFunc(4*time.Second, openLeases) })
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// freeLeases removes a projector's name from all of its leases.
func (s *storm) freeLeases(p *peer) {
	s.Helper()
	leases, err := s.store.Leases(s.Context())
	s.must(err)
	for _, lease := range leases {
		if lease.Owner == p.owner {
			lease.Owner = ""
			_, _ = s.store.SaveLease(s.Context(), lease) // fails if the owner renews the lease first
		}
	}
}

// endRenaming renames each user once, beside projectors without faults, while writes with the
// former username are under way.
func (s *storm) endRenaming(writers []*writer) {
	s.Helper()
	s.settleDown()
	for _, w := range writers {
		w.faults.setProfile(slowRequests, s.transport)
	}
	for _, known := range writers[0].allUsers() {
		user, err := s.store.User(s.Context(), known.ID)
		if isRefusal(err) {
			continue // deleted
		}
		s.must(err)
		for i, write := range []func(*writer, context.Context, *blog.User) error{
			(*writer).createComment, (*writer).createComment, (*writer).like, (*writer).createPost,
		} {
			s.ended.Go(func() { // fails if the post is deleted, or if the client gives up
				ctx, cancel := context.WithTimeout(s.Context(), time.Duration(1+i%2*5)*time.Second)
				defer cancel()
				_ = write(writers[i], ctx, user)
			})
		}
		advanceTime(time.Millisecond)
		_, err = s.store.UpdateUser(s.Context(), user.ID, fmt.Sprintf("user%d", s.names.Add(1)))
		s.must(err)
		advanceTime(time.Second)
	}
	s.ended.Wait()
	advanceTime(slowRequests.maxDelay)
}
