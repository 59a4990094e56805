//go:build ci

package models_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cosmosblog/bench/models"
	v1 "cosmosblog/bench/models/v1"
	v2 "cosmosblog/bench/models/v2"
	v3 "cosmosblog/bench/models/v3"
	v4 "cosmosblog/bench/models/v4"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/seed"
)

// throughput gives users and posts two physical partitions each.
const throughput = 20_000

// columns returns the four models in databases of their own.
func columns(t *testing.T) []models.Column {
	engine := cosmostest.New(t, cosmostest.Options{})
	endpoint := inprocess.NewEndpoint()
	database := func(name string) *cosmos.DB {
		db, err := cosmos.New(cosmos.Options{Endpoint: endpoint, Key: engine.Key(), Transport: inprocess.To(engine), Database: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		if err := models.CreateDatabase(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		return db
	}
	throughputs, err := provision.ParseThroughputs("manual:400,users=manual:20000,posts=manual:20000")
	if err != nil {
		t.Fatal(err)
	}
	first, err1 := v1.New(t.Context(), database("one"), throughput)
	second, err2 := v2.New(t.Context(), database("two"), throughput)
	third, err3 := v3.New(t.Context(), database("three"), throughput, 400)
	fourth, err4 := v4.New(t.Context(), database("four"), throughputs)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return []models.Column{
		{Name: "V1", Model: first}, {Name: "V2", Model: second}, {Name: "V3", Model: third}, {Name: "V4", Model: fourth},
	}
}

func measure(t *testing.T, columns []models.Column) (map[string]map[string]models.Figure, error) {
	set := seed.New("test", 1, 5)
	if posts, _ := set.Size(); posts <= blog.MaxPageSize {
		t.Fatalf("%d posts do not fill the feed", posts)
	}
	return models.Measure(t.Context(), set, columns, models.Options{Samples: 4, Feeds: 1, Progress: func(string) {}})
}

// The ten operations return equal results on all models, and cost what the models promise.
func TestModels(t *testing.T) {
	t.Parallel()
	figures, err := measure(t, columns(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(figures) != len(models.Operations) {
		t.Errorf("%d operations were measured", len(figures))
	}
	for operation, want := range map[string][4]float64{ // requests in V1 to V4; 0 for several
		"Q1": {1, 1, 1, 1}, "Q2": {4, 1, 1, 1}, "Q3": {0, 2, 1, 1}, "Q4": {0, 1, 1, 1}, "Q5": {0, 1, 1, 1}, "Q6": {0, 2, 1, 1},
		"C1": {1, 1, 1, 0}, "C2": {1, 1, 1, 1}, "C3": {1, 1, 1, 1}, "C4": {1, 1, 1, 1},
	} {
		for i, name := range []string{"V1", "V2", "V3", "V4"} {
			f := figures[operation][name]
			if f.RU < 1 || f.Millis <= 0 || f.Partitions < 1 || want[i] > 0 && f.Requests != want[i] || want[i] == 0 && f.Requests < 2 {
				t.Errorf("%s in %s: %+v", operation, name, f)
			}
		}
	}
	for _, list := range []string{"Q3", "Q6"} {
		if f := figures[list]; f["V1"].RU < 5*f["V2"].RU || f["V2"].RU < f["V3"].RU/2 || f["V2"].RU < f["V4"].RU/2 {
			t.Errorf("%s: %+v", list, f)
		}
	}
}

// A model with a mistake is found, and the error shows both results.
func TestMistakesOfModelsAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		column            int
		mutate            func(models.Model) models.Model
		operation, differ string
	}{
		"a comment that V2 does not count": {1, func(m models.Model) models.Model { return uncounted{m} }, "Q2", "comments"},
		"a comment that V3 does not count": {2, func(m models.Model) models.Model { return uncounted{m} }, "Q2", "comments"},
		"a former username in V2":          {1, func(m models.Model) models.Model { return &unrenamed{Model: m} }, "Q2", "renamed-0"},
		"a former username in V3":          {2, func(m models.Model) models.Model { return &unrenamed{Model: m} }, "Q2", "renamed-0"},
		"a former copy in V3":              {2, func(m models.Model) models.Model { return unfollowed{m} }, "Q3", "comments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := columns(t)
			mistaken := &all[c.column]
			mistaken.Model = c.mutate(mistaken.Model)
			_, err := measure(t, all)
			difference, ok := errors.AsType[*models.DifferenceError](err)
			if !ok || difference.Operation != c.operation || difference.Want == difference.Got || !strings.Contains(difference.Want, c.differ) ||
				!strings.Contains(err.Error(), "V1") || !strings.Contains(err.Error(), mistaken.Name) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// uncounted is a model whose createComment does not change the count: it takes new comments away
// again.
type uncounted struct{ models.Model }

func (u uncounted) Post(ctx context.Context, postID string) (*blog.Post, error) {
	p, err := u.Model.Post(ctx, postID)
	if err != nil {
		return nil, err
	}
	comments, err := u.Comments(ctx, postID)
	for _, c := range comments {
		if strings.Contains(c.Content, "A partition key decides") {
			p.CommentCount--
		}
	}
	return p, err
}

// unfollowed is a model whose copies stay as they were loaded.
type unfollowed struct{ models.Model }

func (unfollowed) Follow(context.Context) error { return nil }

// unrenamed is a model whose copies keep former usernames.
type unrenamed struct {
	models.Model
	isRenamed bool
}

func (u *unrenamed) RenameUser(ctx context.Context, userID, username string) error {
	u.isRenamed = true
	return u.Model.RenameUser(ctx, userID, username)
}

func (u *unrenamed) Follow(ctx context.Context) error {
	if u.isRenamed {
		return nil
	}
	return u.Model.Follow(ctx)
}
