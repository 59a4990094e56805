//go:build ci

package failover

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/chaos/contract"
	"cosmosblog/proof/testseed"
)

var (
	runs  = flag.Int("runs", 1, "number of runs of TestFailovers, each with ten failovers")
	pause = flag.Duration("pause", time.Second, "longest pause of a client between two requests")
)

const (
	failovers = 10
	servers   = 2
	people    = 6
	mostPosts = 80               // a page of the API has a hundred
	latency   = time.Millisecond // of the network, in each direction

	// responseTimeout is that of a program's HTTP client (cli/datafolder).
	responseTimeout = 20 * time.Second
)

// TestFailovers writes posts, comments, likes and usernames through ten failovers between two
// regions, and checks all answers and the state at the end against the API's contract: no
// acknowledged write is missing, and none was made twice. The former region answers writes with
// 403/3, everything with 403/1008, or nothing, with and without connections, for some time before
// the failover too. Meanwhile, connections break before and after a request was executed
// ("Troubleshoot the availability of Azure Cosmos DB SDKs in multiregional environments").
func TestFailovers(t *testing.T) {
	seed := testseed.Of(t)
	for i := range *runs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newRun(t, seed+uint64(i)).do() })
		})
	}
}

// run is a world with its people, and what they did.
type run struct {
	*world
	random *rand.Rand // of the failovers
	begun  time.Time

	failedOver int // the number of failovers

	mu       sync.Mutex
	history  contract.History
	posts    []string          // ids
	versions map[string]int    // of posts, as last seen
	users    map[string]string // id by account
	names    map[string]bool   // all that were requested
	codes    map[string]int    // number of answers
	serial   int
}

func newRun(t *testing.T, seed uint64) *run {
	return &run{world: newWorld(t), random: rand.New(rand.NewPCG(seed, 0)), begun: time.Now(), versions: map[string]int{},
		users: map[string]string{}, names: map[string]bool{}, codes: map[string]int{}, history: contract.History{Lag: staleness}}
}

func (r *run) do() {
	for range servers {
		defer r.startServer()()
	}
	defer r.startProjector()()
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range people {
		p := &person{run: r, number: i, account: fmt.Sprint("person", i), random: rand.New(rand.NewPCG(r.random.Uint64(), 1))}
		all.Go(func() { p.act(stop) })
	}
	time.Sleep(10 * time.Second)
	for i := range failovers {
		acknowledged := r.acknowledged()
		r.failover()
		time.Sleep(time.Duration(15+r.random.IntN(15)) * time.Second)
		if n := r.acknowledged() - acknowledged; n < 10 {
			r.Errorf("around failover %d, %d writes were acknowledged", i+1, n)
		}
	}
	close(stop)
	all.Wait()
	time.Sleep(2 * time.Minute) // for the views
	end := r.snapshot(slices.Sorted(maps.Values(r.users)), slices.Sorted(maps.Keys(r.names)), r.posts)
	r.Logf("%d requests: %v; %d posts", len(r.history.Operations), r.codes, len(end.Posts))
	violations := append(contract.CheckOperations(&r.history), contract.CheckSnapshot(&r.history, end)...)
	for _, v := range violations[:min(len(violations), 10)] {
		r.Error(v)
	}
	if r.codes["INTERNAL"] > 0 {
		r.Errorf("%d answers had the code INTERNAL", r.codes["INTERNAL"])
	}
}

// failover changes the region that writes. Before, it fails for up to 6 s.
func (r *run) failover() {
	states := []cosmostest.RegionState{cosmostest.Online, cosmostest.Removed, cosmostest.Unreachable, cosmostest.Online}
	way := r.random.IntN(len(states))
	silent := ""
	if way == 3 { // it is cut off: connections stay open
		silent = []string{"east-us.", "west-us."}[r.failedOver%2]
	}
	r.failedOver++
	for _, wire := range r.wires {
		wire.Inject(r.breaks(rand.New(rand.NewPCG(r.random.Uint64(), 2)), silent))
	}
	time.Sleep(time.Duration(r.random.IntN(300)) * time.Millisecond)
	r.account.FailRegion(states[way])
	time.Sleep(time.Duration(r.random.IntN(6000)) * time.Millisecond)
	r.account.Failover()
	time.Sleep(time.Duration(r.random.IntN(300)) * time.Millisecond)
	for _, wire := range r.wires {
		wire.Inject(nil)
	}
}

// breaks returns a fault that closes one connection in ten, before or after the request was
// executed. The region whose hosts begin with silent does not answer; if that is empty, both do.
func (r *run) breaks(random *rand.Rand, silent string) cosmostest.Fault {
	var mu sync.Mutex
	return func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		if silent != "" && strings.HasPrefix(request.URL.Host, silent) {
			select {
			case <-request.Context().Done():
				return nil, request.Context().Err()
			case <-time.After(responseTimeout):
				return cosmostest.CutBefore(n, request, next)
			}
		}
		mu.Lock()
		roll := random.IntN(20)
		mu.Unlock()
		switch roll {
		case 0:
			return cosmostest.CutBefore(n, request, next)
		case 1:
			return cosmostest.CutAfter(n, request, next)
		}
		return next.Do(request)
	}
}

func (r *run) acknowledged() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.history.Operations {
		if o.Outcome == contract.Acknowledged && !o.Kind.IsRead() {
			n++
		}
	}
	return n
}

// add records an operation and what its answer says.
func (r *run) add(o contract.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Operations = append(r.history.Operations, o)
	r.codes[o.Code]++
	if o.Username != "" {
		r.names[strings.ToLower(o.Username)] = true
	}
	if o.User != nil {
		r.users[o.Account] = o.User.ID
	}
	if o.Post == nil {
		return
	}
	if _, known := r.versions[o.Post.ID]; !known {
		r.posts = append(r.posts, o.Post.ID)
	}
	r.versions[o.Post.ID] = o.Post.Version
}

// next returns a text that nobody else uses.
func (r *run) next() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial++
	return fmt.Sprint("a text with the number ", r.serial)
}

// person is an account's client. It stays at one server, and repeats requests as docs/clients.md
// says.
type person struct {
	*run
	number  int
	account string
	random  *rand.Rand
	own     []string // ids of posts
}

// act sends requests until stop is closed.
func (p *person) act(stop <-chan struct{}) {
	p.repeat(contract.Operation{Kind: contract.CreateUser, Username: p.account + "-0"})
	for {
		select {
		case <-stop:
			return
		default:
		}
		p.write()
		time.Sleep(time.Duration(p.random.Int64N(int64(*pause))))
	}
}

func (p *person) write() {
	p.mu.Lock()
	posts := slices.Clone(p.posts)
	p.mu.Unlock()
	roll := p.random.IntN(100)
	if len(posts) == 0 || len(p.own) == 0 || roll < 2 && len(posts) < mostPosts {
		done := p.repeat(contract.Operation{Kind: contract.CreatePost, Key: p.next(), Title: p.next(), Content: p.next()})
		if done.Post != nil {
			p.own = append(p.own, done.Post.ID)
		}
		return
	}
	post := posts[p.random.IntN(len(posts))]
	switch {
	case roll < 10:
		p.repeat(contract.Operation{Kind: contract.UpdateUser, Username: fmt.Sprintf("%s-%d", p.account, p.random.IntN(3))})
	case roll < 30:
		p.repeat(contract.Operation{Kind: contract.UpdatePost, PostID: p.own[p.random.IntN(len(p.own))], Title: p.next()})
	case roll < 45:
		p.repeat(contract.Operation{Kind: contract.CreateComment, Key: p.next(), PostID: post, Content: p.next()})
	case roll < 65:
		p.repeat(contract.Operation{Kind: contract.LikePost, PostID: post})
	case roll < 80:
		p.repeat(contract.Operation{Kind: contract.UnlikePost, PostID: post})
	default:
		p.repeat(contract.Operation{Kind: contract.ReadPost, PostID: post})
	}
}

// repeat sends a request until it is acknowledged or rejected for good. Half of those that are
// UNAVAILABLE are not repeated, so that it shows whether they were executed.
func (p *person) repeat(o contract.Operation) contract.Operation {
	for {
		done, wait := p.try(o)
		if wait == 0 || done.Code == "UNAVAILABLE" && o.Kind != contract.CreateUser && p.random.IntN(2) == 0 {
			return done
		}
		time.Sleep(wait)
	}
}

// documents are the documents of all kinds.
var documents = map[contract.Kind]string{
	contract.CreateUser:    `mutation($input:CreateUserInput!){createUser(input:$input){user` + userFields + `}}`,
	contract.UpdateUser:    `mutation($input:UpdateUserInput!){updateUser(input:$input){user` + userFields + `}}`,
	contract.CreatePost:    `mutation($input:CreatePostInput!){createPost(input:$input){post` + postFields + `}}`,
	contract.UpdatePost:    `mutation($input:UpdatePostInput!){updatePost(input:$input){post` + postFields + `}}`,
	contract.CreateComment: `mutation($input:CreateCommentInput!){createComment(input:$input){post` + postFields + `comment` + commentFields + `}}`,
	contract.LikePost:      `mutation($input:LikePostInput!){likePost(input:$input){post` + postFields + `}}`,
	contract.UnlikePost:    `mutation($input:UnlikePostInput!){unlikePost(input:$input){post` + postFields + `}}`,
	contract.ReadPost:      `query($input:ID!){post(id:$input)` + strings.Replace(postFields, "{", "{viewerHasLiked ", 1) + `}`,
}

// input returns the variable of an operation.
func input(o contract.Operation) any {
	if o.Kind == contract.ReadPost {
		return o.PostID
	}
	fields := map[string]any{}
	for name, value := range map[string]string{"username": o.Username, "title": o.Title, "content": o.Content, "idempotencyKey": o.Key} {
		if value != "" {
			fields[name] = value
		}
	}
	switch {
	case o.Kind == contract.UpdatePost:
		fields["id"] = o.PostID
	case o.PostID != "":
		fields["postId"] = o.PostID
	}
	return fields
}

// try sends a request once, and records it. wait is the time until it may be repeated, or 0.
func (p *person) try(o contract.Operation) (done contract.Operation, wait time.Duration) {
	o.Account, o.Client, o.Server, o.Invoked = p.account, p.number, p.number%servers, time.Since(p.begun)
	var answer json.RawMessage
	time.Sleep(latency)
	hasSession, failed := p.ask(o.Server, p.account, documents[o.Kind], map[string]any{"input": input(o)}, map[string]any{string(o.Kind): &answer})
	time.Sleep(latency)
	o.Completed, o.GotSession = time.Since(p.begun), hasSession
	switch {
	case failed != nil:
		o.Code = failed.Extensions.Code
		if o.Outcome = contract.OutcomeOf(o.Code); failed.Extensions.MayHaveExecuted != nil && !*failed.Extensions.MayHaveExecuted {
			o.Outcome = contract.Rejected // although it is UNAVAILABLE
		}
		if failed.Extensions.RetryAfterMs == 0 && o.Code != "TRY_AGAIN" {
			p.Errorf("%v: %s", &o, failed.Message)
			break
		}
		wait = max(time.Millisecond*time.Duration(failed.Extensions.RetryAfterMs), 10*time.Millisecond)
	case o.Kind == contract.ReadPost:
		o.Outcome = contract.Acknowledged
		var liked struct{ ViewerHasLiked *bool }
		p.decode(answer, &o.Post)
		p.decode(answer, &liked)
		o.Liked = liked.ViewerHasLiked
	default:
		o.Outcome = contract.Acknowledged
		var parts struct {
			User    *contract.User
			Post    *contract.Post
			Comment *contract.Comment
		}
		p.decode(answer, &parts)
		o.User, o.Post, o.Comment = parts.User, parts.Post, parts.Comment
	}
	p.add(o)
	return o, wait
}

func (p *person) decode(text json.RawMessage, value any) {
	p.Helper()
	if err := json.Unmarshal(text, value); err != nil {
		p.Error(err)
	}
}
