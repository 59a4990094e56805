package projector_test

import (
	"flag"
	"strings"
	"testing"

	"cosmosblog/proof/mutanttest"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which compiles the projector with deliberate mistakes")

// inStorm are the arguments of a long storm.
var inStorm = []string{".", "-run", "^TestStorm$", "-steps", "50400", "-timeout", "30m"}

var mutants = map[string]mutanttest.Mutant{
	"no guard": {
		File:  "../store/views/copies.go",
		Right: "return c.Revision < post.Revision }",
		Wrong: "return true }",
		Tests: inStorm,
	},
	"a patch without a guard": {
		File:  "../store/views/copies.go",
		Right: "c.revision < %d",
		Wrong: "c.revision != %d",
		Tests: []string{"../store/views", "-run", "^TestViewsKeepGreatestRevision$"},
	},
	"a patch of a tombstone": {
		File:  "../store/views/copies.go",
		Right: ", schema.SortKey(post.CreationDate, post.ID))\n}\n\n// patchCounts",
		Wrong: ", schema.SortKey(post.CreationDate, post.ID)) + \" or c.deleted\"\n}\n\n// patchCounts",
		Tests: []string{"../store/views", "-run", "^TestChangedPostsHaveWholeCopies$"},
	},
	"a copy without the recent comments": {
		File:  "../store/views/copies.go",
		Right: "	changes.AppendSet(\"/recentComments\", schema.RecentCommentsOf(post))\n",
		Wrong: "",
		Tests: []string{"../store/views", "-run", "^TestChangedPostsHaveWholeCopies$"},
	},
	"a rename leaves the recent comments": {
		File:  "../store/schema/js/updateUsernames.js",
		Right: "[post].concat(Array.isArray(post.recentComments) ? post.recentComments : [])",
		Wrong: "[post]",
		Tests: inStorm,
	},
	"a recent comment that is edited at the same time": {
		File:  "../store/schema/js/deleteComment.js",
		Right: "touch(newest.filter((c) => known.indexOf(JSON.stringify(recentOf(c))) < 0), () => mark(comment));",
		Wrong: "mark(comment);",
		Tests: []string{"../store/views", "-run", "^TestProceduresAreSerializable$"},
	},
	"a title with the content of another edit": {
		File:  "../store/query_content.go",
		Right: "content != nil && content.Version == post.ContentVersion",
		Wrong: "content != nil",
		Tests: []string{"../store", "-run", "^TestReadOfContentBesideEdits$"},
	},
	"a short content beside the former long one": {
		File:  "../store/command_post.go",
		Right: "		batch.DeleteItem(schema.ContentID, nil)\n",
		Wrong: "",
		Tests: []string{"../store", "-run", "^TestContentCrossesTheLine$"},
	},
	"a deleted post leaves its long content": {
		File:  "../store/chores/purge.go",
		Right: "IN ('comment', 'content', 'like')",
		Wrong: "IN ('comment', 'like')",
		Tests: []string{"../store/chores", "-run", "^TestPurge$"},
	},
	"a repeated step forgets the lists": {
		File:  "reader.go",
		Right: "	if at.Container != schema.Posts || !r.held.mayRepeat() {\n",
		Wrong: "	if at.Container == schema.Posts || !r.held.mayRepeat() {\n",
		Tests: []string{".", "-run", "^TestCheckpointHasStatesOfEarlierAttempts$"},
	},
	"a former tag keeps its entry": {
		File:  "../store/views/listed.go",
		Right: "		if !slices.Contains(own, list) && !slices.Contains(l.FormerLists, list) {",
		Wrong: "		if false {",
		Tests: []string{".", "-run", "^TestTagsChangeWhileProjectorsDie$", "-tag-rounds", "100"},
	},
	"former tags of an interrupted projection are forgotten": {
		File:  "../store/views/listed.go",
		Right: "former := append(slices.Clip(current.FormerLists), current.lists()...)",
		Wrong: "former := current.lists()",
		Tests: []string{".", "-run", "^TestTagsChangeWhileProjectorsDie$", "-tag-rounds", "100"},
	},
	"a copy is never unlisted": {
		File:  "../store/views/listed.go",
		Right: "	l := listing{Unlisted: true}\n",
		Wrong: "	l := listing{}\n",
		Tests: []string{".", "-run", "^TestTagsChangeWhileProjectorsDie$"},
	},
	"a like ends an interrupted listing": {
		File:  "../store/views/userposts.go",
		Right: ` + " and not is_defined(c.unlisted)", changes`,
		Wrong: `, changes`,
		Tests: []string{"../store/views", "-run", "^TestLikeOfUnlistedCopy$"},
	},
	"the weight of an interrupted projection stays": {
		File:  "../store/views/lists.go",
		Right: "needsWeight := isResumed",
		Wrong: "needsWeight := isResumed && false",
		Tests: []string{".", "-run", "^TestTagsChangeWhileProjectorsDie$", "-tag-rounds", "100"},
	},
	"an older weight replaces a newer one": {
		File:  "../store/views/weight.go",
		Right: "err == nil && current.Revision >= item.Revision {",
		Wrong: "err == nil && current.Revision < 0 {",
		Tests: []string{"../store/views", "-run", "^TestLateWeight$"},
	},
	"a rename leaves the entries": {
		File:  "../store/views/listed.go",
		Right: " &&\n		post.Author.Revision == current.AuthorRevision && post.Author.Username == current.UserUsername",
		Wrong: "",
		Tests: []string{".", "-run", "^TestCrashAtAnyRequest$"},
	},
	"a tombstone expires before its entries": {
		File:  "../store/views/userposts.go",
		Right: "	tombstone.TTL = 0 ",
		Wrong: "	tombstone.TTL += 0 ",
		Tests: []string{"../store/views", "-run", "^TestUnlistedTombstoneStays$"},
	},
	"a group without the horizon's etag": {
		File:  "../store/views/feed.go",
		Right: "batch.PatchItem(HorizonID, changes, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})",
		Wrong: "batch.PatchItem(HorizonID, changes, nil)",
		Tests: []string{"../store/views", "-run", "^TestWritesDuringGroup$"},
	},
	"a group overwrites newer copies": {
		File:  "../store/views/group.go",
		Right: "r.batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &state.ETag})",
		Wrong: "r.batch.ReplaceItem(post.ID, text, nil)",
		Tests: []string{"../store/views", "-run", "^TestWritesDuringGroup$"},
	},
	"a group decides on a stale horizon": {
		File:  "../store/views/group.go",
		Right: "if refused < 0 || advanced {",
		Wrong: "if refused < 0 || !advanced {",
		Tests: []string{"../store/views", "-run", "OnStaleReplica$"},
	},
	"checkpoint before views": {
		File:  "reader.go",
		Right: "	for _, changes := range r.portions(",
		Wrong: "	if err := r.held.advance(ctx, progress{resourceID: page.ResourceID, continuation: page.Continuation, changes: len(page.Changes)}); err != nil {\n		return idle, err\n	}\n" +
			"	for _, changes := range r.portions(",
		Tests: inStorm,
	},
	"no second sweep": {
		File:  "../store/chores/task.go",
		Right: "return c.FinishSweepPass(ctx, sweep, charge)",
		Wrong: "sweep.Last = true; return c.FinishSweepPass(ctx, sweep, charge)",
		Tests: inStorm,
	},
	"trim by count instead of by position": {
		File:  "../store/schema/js/truncateFeed.js",
		Right: "writeHorizon(item, () => remove(oldest));",
		Wrong: "remove(oldest);",
		Tests: inStorm,
	},
	"usernames of interrupted renames stay": {
		File:  "../store/chores/sweep.go",
		Right: "return c.reclaimUsernames(ctx, p, sweep)",
		Wrong: "return nil",
		Tests: inStorm,
	},
	"the feed decides on a stale horizon": {
		File:  "../store/views/copies.go",
		Right: "d := decision{v, post, create, isNew(post), false}\n	if canPatch(post) {",
		Wrong: "d := decision{v, post, create, isNew(post), true}\n	if false {",
		Tests: inStorm,
	},
	"the feed decides on a stale horizon, by views": {
		File:  "../store/views/copies.go",
		Right: "err := cosmos.AdvanceSessionOnce(ctx, d.client, d.Partition, d.post.ID); err != nil {",
		Wrong: "false {",
		Tests: []string{"../store/views", "-run", "OnStaleReplica$"},
	},
	"an old deletion ends the next life":            oldDeletion,
	"an old deletion ends the next life, by chores": found(oldDeletion, "../store/chores", "-run", "^TestOldDeletionLeavesNextLife$"),
	"a username released by a stale read": {
		File:  "../store/naming.go",
		Right: "	user, _, err := cosmos.ReadLatest[schema.UserItem](ctx, s.users, userID)\n",
		Wrong: "	user, _, err := cosmos.Read[schema.UserItem](ctx, s.users, userID, userID)\n",
		Tests: inStorm,
	},
	"decisions on stale reads": {
		File:  "../store/tries.go",
		Right: "	if !current {\n		return errReadAgain",
		Wrong: "	if current && false {\n		return errReadAgain",
		Tests: inStorm,
	},
	"no list of edits": {
		File:  "../store/command_post.go",
		Right: "case slices.Contains(item.Edits, edit):",
		Wrong: "case slices.Contains(item.Edits, edit) && item.Edits[len(item.Edits)-1] == edit:",
		Tests: inStorm,
	},
}

var oldDeletion = mutanttest.Mutant{
	File:  "../store/chores/deletion.go",
	Right: " && user.Revision == deletion.Revision:",
	Wrong: ":",
	Tests: inStorm,
}

// found returns a mutant that other tests must find too.
func found(m mutanttest.Mutant, tests ...string) mutanttest.Mutant {
	m.Tests = tests
	return m
}

// TestMutantsAreFound plants one mistake at a time in a copy of the sources that only the compiler
// sees, and checks that TestStorm, or a test of the views, fails.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the projector several times; set -mutants to run it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			if _, found, ok := strings.Cut(m.Test(t), "repeat with -run"); ok {
				t.Log(strings.SplitN(found, "\n", 2)[0])
			}
		})
	}
}

// TestMutantsFit checks that every mistake still fits its source file.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		m.Plant(t)
	}
}
