// Writes a user's new username to the user's post, comments and like in one partition, and to the
// post's recent comments of the user.
//
// Each item holds the user's revision from which its username was copied. Only items with a smaller
// revision are written, so an earlier rename that arrives late has no effect. After args.limit items,
// or long texts, or if the time limit is near, the completed writes are kept and the result has
// more = true; the caller must execute the script again, with the result's continuation. So other
// writes to the partition wait only briefly, and no execution is charged as much as the service
// allows a script: without the continuation, it would read the items of former executions again.
// The query finds only items that are still to be written, so repetition is harmless.
// The post comes first: once its comments are written, no query finds that the post is still to be.
function updateUsernames(args) {
  const maxText = 40000; // characters of the written comments
  let updated = 0;
  let text = 0;

  if (!collection.readDocument(items + args.postId, onPost)) answer(args.continuation);

  function onPost(err, post) {
    if (err && err.number !== 404) fail(err);
    if (err || post.type !== "post" || post.deleted || !renameIn(post)) {
      find(args.continuation);
      return;
    }
    post.revision = count(post.revision) + 1;
    replace(post, args.continuation, () => find(args.continuation));
  }

  // Returns whether the post has the former username.
  function renameIn(post) {
    const named = [post].concat(Array.isArray(post.recentComments) ? post.recentComments : []);
    const old = named.filter((item) => item.userId === args.userId && item.authorRevision < args.authorRevision);
    old.forEach(setName);
    return old.length > 0;
  }

  function setName(item) {
    item.userUsername = args.username;
    item.authorRevision = args.authorRevision;
  }

  function find(continuation) {
    const query = { // the range excludes tombstones in the index
      query: "SELECT * FROM c WHERE c.userId = @userId AND c.authorRevision < @authorRevision" +
        " AND c.type < 'tombstone' AND c.type IN ('comment', 'like')",
      parameters: [
        { name: "@userId", value: args.userId },
        { name: "@authorRevision", value: args.authorRevision }
      ]
    };
    const options = { pageSize: args.limit };
    if (continuation) options.continuation = continuation;
    if (!collection.queryDocuments(collection.getSelfLink(), query, options, onPage)) answer(continuation);

    function onPage(err, page, options) {
      if (err) fail(err);
      if (page.length === 0 && options.continuation) find(options.continuation);
      else update(page, 0, continuation, options.continuation);
    }
  }

  // Renames the items of a page from the i-th on. current and next are the continuations with which
  // this page and the next one are read.
  function update(page, i, current, next) {
    if (i === page.length) {
      answer(next, !next);
    } else if (text > maxText) {
      answer(current);
    } else {
      text += (page[i].content || "").length;
      setName(page[i]);
      replace(page[i], current, () => update(page, i + 1, current, next));
    }
  }

  function replace(item, continuation, next) {
    if (!collection.replaceDocument(item._self, item, { etag: item._etag }, onReplaced)) answer(continuation);

    function onReplaced(err) {
      if (err && err.number !== 404) fail(err);
      if (!err) updated += 1;
      next();
    }
  }

  function answer(continuation, done) {
    response.setBody({ code: "OK", updated: updated, more: !done, continuation: continuation || "" });
  }
}
