// Writes a user's new username to the user's post, comments and like in one partition, and to the
// post's recent comments of the user.
//
// Each item holds the user's revision from which its username was copied. Only items with a smaller
// revision are written, so an earlier rename that arrives late has no effect. After one page, or if
// the time limit is near, the completed writes are kept and the result has more = true; the caller
// must execute the script again. So other writes to the partition wait only briefly. The query finds
// only items that are still to be written, so repetition is harmless.
// The post comes first: once its comments are written, no query finds that the post is still to be.
function updateUsernames(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  let updated = 0;

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  if (!collection.readDocument(collection.getAltLink() + "/docs/" + args.postId, onPost)) answer(true);

  function onPost(err, post) {
    if (err && err.number !== 404) fail(err);
    if (err || post.type !== "post" || post.deleted || !renameIn(post)) {
      find("");
      return;
    }
    post.revision = count(post.revision) + 1;
    replace(post, () => find(""));
  }

  // Returns whether the post has the former username.
  function renameIn(post) {
    const items = [post].concat(Array.isArray(post.recentComments) ? post.recentComments : []);
    const old = items.filter((item) => item.userId === args.userId && item.authorRevision < args.authorRevision);
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
    const options = { pageSize: 100 };
    if (continuation) options.continuation = continuation;
    if (!collection.queryDocuments(collection.getSelfLink(), query, options, onPage)) answer(true);
  }

  function onPage(err, page, options) {
    if (err) fail(err);
    if (page.length === 0 && options.continuation) find(options.continuation);
    else update(page, 0, Boolean(options.continuation));
  }

  function update(page, i, more) {
    if (i < page.length) rename(page[i], () => update(page, i + 1, more));
    else answer(more);
  }

  function rename(item, next) {
    setName(item);
    replace(item, next);
  }

  function replace(item, next) {
    if (!collection.replaceDocument(item._self, item, { etag: item._etag }, onReplaced)) answer(true);

    function onReplaced(err) {
      if (err && err.number !== 404) fail(err);
      if (!err) updated += 1;
      next();
    }
  }

  function answer(more) {
    response.setBody({ code: "OK", updated: updated, more: more });
  }

  function count(n) {
    return typeof n === "number" && n > 0 ? Math.floor(n) : 0;
  }

  function fail(err) {
    throw new Error(err.number, err.body || err.message);
  }
}
