// What every stored procedure begins with: newScript puts the body of this function into the
// procedure's own, because the service takes a single function. It leaves out functions that the
// procedure does not use.
function prelude(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";
  const maxRecent = 3; // comments that a post has

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  if (args.deadline && Date.now() > args.deadline) {
    response.setBody({ code: "TOO_LATE" });
    return;
  }

  // Calls next with the post, unless it does not exist.
  function readPost(next) {
    accepted(collection.readDocument(items + args.postId, (err, post) => {
      if (err && err.number !== 404) fail(err);
      if (err || post.type !== "post" || post.deleted) response.setBody({ code: "POST_NOT_FOUND" });
      else next(post);
    }));
  }

  function count(n) {
    return typeof n === "number" && n > 0 ? Math.floor(n) : 0;
  }

  // Shortly before the time limit, operations are rejected and their callbacks never run. The
  // error then undoes all writes of the transaction.
  function accepted(isAccepted) {
    if (!isAccepted) throw new Error(429, "The time for this script is used up.");
  }

  function fail(err) {
    throw new Error(err.number, err.body || err.message);
  }

  // Replaces an item that the script has read, and calls next with the new one.
  function write(item, next) {
    accepted(collection.replaceDocument(item._self, item, { etag: item._etag }, (err, written) => {
      if (err) fail(err);
      next(written);
    }));
  }

  // Replaces items by what they are, so that other transactions that write them conflict.
  function touch(unchanged, next) {
    if (unchanged.length === 0) next();
    else write(unchanged[0], () => touch(unchanged.slice(1), next));
  }

  // Calls next with the newest n comments of the post.
  function findNewest(n, next, found, continuation) {
    const query = {
      query: "SELECT TOP @n * FROM c WHERE c.type = 'comment' ORDER BY c.type, c.sortKey DESC",
      parameters: [{ name: "@n", value: n }]
    };
    const options = { pageSize: n };
    if (continuation) options.continuation = continuation;
    accepted(collection.queryDocuments(collection.getSelfLink(), query, options, (err, page, options) => {
      if (err) fail(err);
      const newest = (found || []).concat(page);
      if (options.continuation) findNewest(n, next, newest, options.continuation);
      else next(newest.slice(0, n));
    }));
  }

  // What the post stores of a comment. The order of the properties is that of schema.RecentComment.
  function recentOf(comment) {
    const recent = {
      id: comment.id,
      userId: comment.userId,
      userUsername: comment.userUsername,
      authorRevision: comment.authorRevision,
      excerpt: comment.excerpt || comment.content,
      creationDate: comment.creationDate
    };
    if (comment.updatedDate) recent.updatedDate = comment.updatedDate;
    return recent;
  }

  function recentComments(post) {
    return Array.isArray(post.recentComments) ? post.recentComments : [];
  }
}
