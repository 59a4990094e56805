// Sets a post's recent comments to its newest three comments. If they are correct, the script writes
// nothing. deleteComment says why it also writes the comments that become recent ones.
function restoreRecentComments(args) {
  const maxRecent = 3;
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  accepted(collection.readDocument(items + args.postId, (err, post) => {
    if (err && err.number !== 404) fail(err);
    if (err || post.type !== "post" || post.deleted) response.setBody({ code: "POST_NOT_FOUND" });
    else findNewest(post, [], "");
  }));

  function findNewest(post, found, continuation) {
    const query = {
      query: "SELECT TOP @n * FROM c WHERE c.type = 'comment' ORDER BY c.type, c.sortKey DESC",
      parameters: [{ name: "@n", value: maxRecent }]
    };
    const options = { pageSize: maxRecent };
    if (continuation) options.continuation = continuation;
    accepted(collection.queryDocuments(collection.getSelfLink(), query, options, (err, page, options) => {
      if (err) fail(err);
      const newest = found.concat(page);
      if (options.continuation) findNewest(post, newest, options.continuation);
      else setRecent(post, newest.slice(0, maxRecent));
    }));
  }

  function setRecent(post, newest) {
    const before = recentComments(post).map((c) => JSON.stringify(c));
    const wrong = newest.filter((comment, i) => JSON.stringify(recentOf(comment)) !== before[i]);
    if (wrong.length === 0 && before.length === newest.length && Array.isArray(post.recentComments)) {
      response.setBody({ code: "OK", updated: 0 });
      return;
    }
    post.recentComments = newest.map(recentOf);
    post.revision = count(post.revision) + 1;
    touch(wrong, () => {
      accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err) => {
        if (err) fail(err);
        response.setBody({ code: "OK", updated: 1 });
      }));
    });
  }

  function touch(comments, next) {
    if (comments.length === 0) {
      next();
      return;
    }
    accepted(collection.replaceDocument(comments[0]._self, comments[0], { etag: comments[0]._etag }, (err) => {
      if (err) fail(err);
      touch(comments.slice(1), next);
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
}
