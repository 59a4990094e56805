package audit

import (
	"context"

	"cosmosblog/store/changefeed"
)

// readHistory reads the present history of the database, which decides what enumerates the items.
func (a *auditRun) readHistory(ctx context.Context) (history changefeed.History, err error) {
	err = a.db.RetryTransient(ctx, func() (err error) {
		history, err = a.feeds.History(ctx)
		return err
	})
	a.byQuery = !history.HasWholeFeeds()
	return history, err
}

// measure reads the end of each feed, so that the first reported progress has the complete total.
// By query, there is no total.
func (a *auditRun) measure(ctx context.Context) error {
	a.scanned = map[changefeed.Feed]changefeed.Progress{}
	for _, k := range kinds {
		if !k.isListed() {
			continue
		}
		if a.byQuery {
			a.scanned[changefeed.AllOf(k.container)] = changefeed.Progress{}
			continue
		}
		feeds, err := a.feeds.FeedsOf(ctx, k.container)
		if err != nil {
			return err
		}
		fromStart := func(changefeed.Feed) string { return "" }
		measured, err := changefeed.Scanner{Feeds: a.feeds, Begin: fromStart}.Measure(ctx, feeds)
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			a.scanned[feed] = changefeed.Progress{Total: measured[feed].Total}
		}
	}
	return nil
}

func (a *auditRun) reportProgress() {
	if a.options.Progress == nil {
		return
	}
	var progress Progress
	for _, feed := range a.scanned {
		progress.Done += feed.Done
		if !a.byQuery {
			progress.Total += max(feed.Done, feed.Total)
		}
	}
	a.options.Progress(progress)
}

// eachPage scans a container. It calls f with the partitions of each page that were not compared
// before, and with the feed of the page, its continuation and the progress after it. It reports the
// progress.
func (a *auditRun) eachPage(
	ctx context.Context,
	k kind,
	begin func(changefeed.Feed) string,
	f func(feed changefeed.Feed, continuation string, progress changefeed.Progress, targets []target) error,
) error {
	visit := func(page changefeed.Page, feed changefeed.Feed, progress changefeed.Progress) error {
		switch {
		case a.byQuery:
			progress.Done = a.scanned[feed].Done + int64(len(page.Items))
		case len(page.Items) == 0:
			return nil
		}
		targets := a.newTargets(k, page)
		if err := f(feed, page.Continuation, progress, targets); err != nil {
			return err
		}
		*k.counter(&a.result) += int64(len(targets))
		a.scanned[feed] = changefeed.Progress{
			Done:  progress.Done,
			Total: max(progress.Total, a.scanned[feed].Total),
		}
		a.reportProgress()
		return nil
	}
	scanner := changefeed.Scanner{
		Feeds:    a.feeds,
		PageSize: a.options.PageSize,
		Begin:    begin,
		Visit:    visit,
	}
	if err := a.scan(ctx, k.container, scanner); err != nil {
		return err
	}
	for feed, end := range a.scanned {
		if feed.Container == k.container { // the last LSNs may be those of deleted items
			a.scanned[feed] = changefeed.Progress{Done: max(end.Done, end.Total), Total: end.Total}
		}
	}
	a.reportProgress()
	return nil
}

func (a *auditRun) scan(ctx context.Context, container string, scanner changefeed.Scanner) error {
	if a.byQuery {
		return scanner.ScanItems(ctx, container)
	}
	feeds, err := a.feeds.FeedsOf(ctx, container)
	if err != nil {
		return err
	}
	return scanner.Scan(ctx, feeds)
}

// newTargets returns the partitions of a page's items that were not compared before. It reports
// items without one: no partition that is compared has them.
func (a *auditRun) newTargets(k kind, page changefeed.Page) []target {
	var targets []target
	for _, text := range page.Items {
		item := newAuditedItem(text)
		partition := k.partitionOf(item)
		if partition == "" && a.compared.add(k.container, "\x00"+item.ID) {
			d := item.drift(DriftUnreadable, k.container, "").withValues("", "the partition key is missing", "")
			a.reportDrifts([]Drift{d}, []Drift{d})
		}
		if partition != "" && a.compared.add(k.container, partition) {
			targets = append(targets, target{k.container, partition})
		}
	}
	return targets
}
