package audit

import (
	"context"
	"slices"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// readHistory reads the present history of the database, which decides what enumerates the items.
func (a *auditRun) readHistory(ctx context.Context) (history changefeed.History, err error) {
	history, err = cosmos.Retried(ctx, a.db, a.feeds.History)
	a.byQuery = !history.HasWholeFeeds()
	return history, err
}

// begin sets the positions from which all containers are read, those of an interrupted rebuild or
// those of the beginning. It reads the end of each feed, so that the first reported progress has
// the complete total. By query, there is no total.
func (a *auditRun) begin(ctx context.Context, from []follow.Position) (err error) {
	if len(from) == 0 {
		if from, err = a.beginnings(ctx, listedContainers()...); err != nil {
			return err
		}
	}
	if a.positions, err = a.follower.Measure(ctx, from); err != nil {
		return err
	}
	a.reportProgress()
	return nil
}

// beginnings returns the positions at the beginning of all items of containers.
func (a *auditRun) beginnings(ctx context.Context, containers ...string) (positions []follow.Position, err error) {
	if !a.byQuery {
		return a.feeds.Beginnings(ctx, containers...)
	}
	for _, container := range containers {
		positions = append(positions, follow.Position{Feed: follow.AllItems(container)})
	}
	return positions, nil
}

func (a *auditRun) reportProgress() {
	if a.options.Progress != nil {
		a.options.Progress(follow.ProgressOf(a.positions))
	}
}

// eachPage calls f with all targets of a kind. It reads the container from a.positions, unless the
// kind has a single target. It calls f with the partitions of each page that were not compared
// before, moves a.positions behind the page, and reports the progress. Then it calls moved.
func (a *auditRun) eachPage(
	ctx context.Context, k kind, f func(ctx context.Context, targets []target) error, moved func(context.Context) error,
) error {
	if k.only != "" {
		return f(ctx, []target{{k.container, k.only}})
	}
	ctx = cosmos.WithSession(ctx) // no page is older than the one before
	isOther := func(p follow.Position) bool { return p.Container != k.container }
	others := slices.DeleteFunc(slices.Clone(a.positions), func(p follow.Position) bool { return !isOther(p) })
	for step, err := range a.follower.Follow(ctx, slices.DeleteFunc(slices.Clone(a.positions), isOther)) {
		if err != nil {
			return err
		}
		targets := a.newTargets(k, step.Page)
		if err := f(ctx, targets); err != nil {
			return err
		}
		*k.counter(&a.result) += int64(len(targets))
		a.positions = append(slices.Clone(others), step.Positions...)
		a.reportProgress()
		if err := moved(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newTargets returns the partitions of a page's items that were not compared before. It reports
// items without one: no partition that is compared has them.
func (a *auditRun) newTargets(k kind, page follow.Page) []target {
	var targets []target
	for _, text := range page.Items {
		item := newAuditedItem(k.container, text)
		if item.partition == "" && a.compared.add(k.container, "\x00"+item.ID) {
			d := item.drift(DriftUnreadable).withValues("", "the partition key is missing", nil)
			a.reportDrifts([]Drift{d}, []Drift{d})
		}
		if item.partition != "" && a.compared.add(k.container, item.partition) {
			targets = append(targets, target{k.container, item.partition})
		}
	}
	return targets
}
