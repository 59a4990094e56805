package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cosmosblog/bench/models"
	v1 "cosmosblog/bench/models/v1"
	v2 "cosmosblog/bench/models/v2"
	v3 "cosmosblog/bench/models/v3"
	v4 "cosmosblog/bench/models/v4"
	"cosmosblog/bench/plot"
	"cosmosblog/engine"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
	"cosmosblog/store/seed"
)

// rung is a model of the ladder. A further model is one more element of ladder.
type rung struct {
	name string
	// make creates the model in an empty database, with a throughput in RU/s for each container that
	// lists or threads are in.
	make    func(ctx context.Context, db *cosmos.DB, throughput int) (models.Model, error)
	article string // the article's figures: ms/RU of the ten operations in the order of its table; empty if it has none
}

// served is the model that the server has.
const served = "V4"

// compared are the models that the report compares with the first one: the article's last model and
// the served one.
var compared = []string{"V3", served}

var ladder = []rung{
	{"V1", func(ctx context.Context, db *cosmos.DB, throughput int) (models.Model, error) {
		return v1.New(ctx, db, int32(throughput))
	}, "7/5.71 2/1 9/8.76 9/19.54 130/619.41 7/8.57 23/27.72 6/7.05 59/58.92 306/2063.54"},
	{"V2", func(ctx context.Context, db *cosmos.DB, throughput int) (models.Model, error) {
		return v2.New(ctx, db, int32(throughput))
	}, "7/5.71 2/1 9/8.76 2/1 28/201.54 7/15.27 4/7.72 7/14.67 4/8.92 83/532.33"},
	{"V3", func(ctx context.Context, db *cosmos.DB, throughput int) (models.Model, error) {
		return v3.New(ctx, db, int32(throughput), smallThroughput)
	}, "7/5.71 2/1 9/8.76 2/1 4/6.46 7/15.27 4/7.72 7/14.67 4/8.92 9/16.97"},
	{"V4", func(ctx context.Context, db *cosmos.DB, throughput int) (models.Model, error) {
		throughputs, err := provision.ParseThroughputs(fmt.Sprintf("manual:%d,users=manual:%d,posts=manual:%[2]d", smallThroughput, throughput))
		if err != nil {
			return nil, err
		}
		return v4.New(ctx, db, throughputs)
	}, ""},
}

// articleFigures returns the figures of the article by operation.
func (r rung) articleFigures() map[string]models.Figure {
	figures := map[string]models.Figure{} // empty for a model that the article does not have
	for i, text := range strings.Fields(r.article) {
		var f models.Figure
		if _, err := fmt.Sscanf(text, "%f/%f", &f.Millis, &f.RU); err != nil {
			panic("bench: " + text + ": " + err.Error())
		}
		figures[models.Operations[i].Name] = f
	}
	return figures
}

// throughputPerPartition is the throughput of a physical partition in RU/s (Azure Cosmos DB service
// quotas). A new container has as many as its throughput needs.
const throughputPerPartition = 10_000

// smallThroughput is the throughput in RU/s of each container beside users and posts.
const smallThroughput = 400

// smallContainers is the number of these containers: feed of V3, and those of V4.
var smallContainers = 1 + len(schema.Containers) - 2

// engineThroughput gives users and posts eleven physical partitions each.
const engineThroughput = 11 * throughputPerPartition

// benchmarkModels measures the models of the ladder in databases of their own, which it removes.
func benchmarkModels(ctx context.Context, o *options) (_ *report, err error) {
	account, err := openAccount(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, account.close(ctx)) }()
	var columns []models.Column
	partitions := 0
	for _, r := range ladder {
		db, err := account.createDatabase(ctx, o.database+"-"+strings.ToLower(r.name))
		if err != nil {
			return nil, err
		}
		model, err := r.make(ctx, db, o.throughput)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		ranges, err := db.Container("posts").ReadFeedRanges(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		partitions = len(ranges)
		columns = append(columns, models.Column{Name: r.name, Model: model})
	}
	figures, err := models.Measure(ctx, seed.New("bench", 1, o.users), columns, models.Options{
		Samples:  o.samples,
		Feeds:    5,
		Progress: func(text string) { fmt.Fprintln(o.progress, text) },
	})
	if err != nil {
		return nil, err
	}
	return newModelsReport(o, partitions, figures), nil
}

// endpointVariable names an account or a running engine, as for the program.
const endpointVariable = "COSMOS_ENDPOINT"

// account is an embedded engine of this process, or the account or engine at COSMOS_ENDPOINT.
type account struct {
	options cosmos.Options
	engine  *engine.Engine
	folder  string // of the engine
	made    []*cosmos.DB
}

func openAccount(o *options) (*account, error) {
	a := &account{}
	if endpoint := os.Getenv(endpointVariable); endpoint != "" {
		if o.throughput == 0 {
			return nil, errors.New("--throughput is required with " + endpointVariable + ", because an account bills it")
		}
		a.options = cosmos.Options{Endpoint: endpoint, Key: os.Getenv("COSMOS_KEY")}
		fmt.Fprintf(o.progress, "On an account, %d databases with %d containers of %d RU/s and %d of %d RU/s "+
			"cost about %.2f USD an hour, at the list price of one region.\n", len(ladder), 2*len(ladder), o.throughput,
			smallContainers, smallThroughput, hourlyPrice(2*len(ladder)*o.throughput+smallContainers*smallThroughput))
		return a, nil
	}
	if o.throughput == 0 {
		o.throughput = engineThroughput
	}
	var err error
	if a.folder, err = os.MkdirTemp("", "cosmosblog-models-"); err != nil {
		return nil, err
	}
	if a.engine, err = engine.Open(engine.Options{Dir: a.folder}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(a.folder))
	}
	a.options = cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: a.engine.Key(), Transport: inprocess.To(a.engine)}
	return a, nil
}

// hourlyPrice returns the price of provisioned throughput in USD an hour: 0.008 for 100 RU/s (Azure
// Cosmos DB pricing, standard throughput in one region).
func hourlyPrice(throughput int) float64 { return float64(throughput) / 100 * 0.008 }

// createDatabase creates a database. It returns an error if the database exists.
func (a *account) createDatabase(ctx context.Context, name string) (*cosmos.DB, error) {
	options := a.options
	options.Database = name
	db, err := cosmos.New(options)
	if err != nil {
		return nil, err
	}
	if err := models.CreateDatabase(ctx, db); err != nil {
		db.Close()
		return nil, fmt.Errorf("creating the database %s: %w. --database names another", name, err)
	}
	a.made = append(a.made, db)
	return db, nil
}

// leftError names databases that the benchmark has made and could not remove.
type leftError struct {
	names  []string
	causes []error
}

// Error names the databases, and says why they are left.
func (e *leftError) Error() string {
	return fmt.Sprintf("these databases are left, and billed until you remove them: %s: %v", strings.Join(e.names, ", "), errors.Join(e.causes...))
}

// close removes what the benchmark has made, also after an interruption. Error: *leftError, or that
// of the engine.
func (a *account) close(ctx context.Context) error {
	if a.engine != nil {
		for _, db := range a.made {
			db.Close()
		}
		return errors.Join(a.engine.Close(), os.RemoveAll(a.folder))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var left leftError
	for _, db := range a.made {
		if err := models.RemoveDatabase(ctx, db); err != nil {
			left.names = append(left.names, db.Name())
			left.causes = append(left.causes, err)
		}
		db.Close()
	}
	if left.names == nil {
		return nil
	}
	return &left
}

// modelRow is an operation in the report: the figures of each model, and the article's.
type modelRow struct {
	Operation string                   `json:"operation"`
	Title     string                   `json:"title"`
	Measured  map[string]models.Figure `json:"measured"`
	Article   map[string]models.Figure `json:"article"`
}

// columns returns the headers of the columns of a model in the report: the article's figures if it
// has any, and the measured ones.
func (r rung) columns(title string) []string {
	if r.article == "" {
		return []string{title}
	}
	return []string{title + ", article", title}
}

// cells returns the cells in the columns of a model: a value of the article's figures if it has
// any, and the same value of the measured ones.
func (r rung) cells(row modelRow, value func(map[string]models.Figure) float64) []string {
	if r.article == "" {
		return []string{plot.Number(value(row.Measured))}
	}
	return []string{plot.Number(value(row.Article)), plot.Number(value(row.Measured))}
}

// pageFigures is the path of the figures that the pages in the browser show, relative to docs. The
// pages must be built again after a change.
const pageFigures = "../web/app/src/models.json"

func newModelsReport(o *options, partitions int, figures map[string]map[string]models.Figure) *report {
	r := newReport(o, nil)
	r.Partitions, r.Users, r.Served = partitions, o.users, served
	r.plot = &plot.Plot{Title: "RU by operation and model", IsLog: true}
	r.table.header = []string{"RU"}
	details := table{header: []string{"ms / requests / partitions"}}
	first := ladder[0].name
	var ratios []string
	for _, rung := range ladder {
		r.plot.Names = append(r.plot.Names, rung.name)
		r.Ladder = append(r.Ladder, rung.name)
		r.table.header = append(r.table.header, rung.columns(rung.name)...)
		details.header = append(details.header, rung.name)
		if slices.Contains(compared, rung.name) {
			ratios = append(ratios, rung.columns(first+" ÷ "+rung.name)...)
		}
	}
	r.table.header = append(r.table.header, ratios...)
	for _, operation := range models.Operations {
		row := modelRow{operation.Name, operation.Title, figures[operation.Name], map[string]models.Figure{}}
		label := operation.Name + " " + operation.Title
		cells, detail, points := []string{label}, []string{label}, plot.Row{Label: label}
		ratios = nil
		for _, rung := range ladder {
			if article, isKnown := rung.articleFigures()[operation.Name]; isKnown {
				row.Article[rung.name] = article
			}
			ours := row.Measured[rung.name]
			cells = append(cells, rung.cells(row, func(f map[string]models.Figure) float64 { return f[rung.name].RU })...)
			if slices.Contains(compared, rung.name) {
				ratios = append(ratios, rung.cells(row, func(f map[string]models.Figure) float64 { return f[first].RU / f[rung.name].RU })...)
			}
			detail = append(detail, fmt.Sprintf("%s / %s / %s", plot.Number(ours.Millis), count(ours.Requests), count(ours.Partitions)))
			points.Values = append(points.Values, ours.RU)
		}
		r.table.add(append(cells, ratios...)...)
		details.add(detail...)
		r.Models = append(r.Models, row)
		r.plot.Rows = append(r.plot.Rows, points)
	}
	r.notes = fmt.Sprintf("%s\nEach of users and posts has %d physical partitions.\n", details.String(), r.Partitions)
	return r
}

// count formats a mean number of requests.
func count(mean float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", mean), ".0") }
