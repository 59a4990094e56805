// Turns a comment into a tombstone, decrements the post's comment count, and replaces the comment in
// the post's recent comments, all in one transaction. The comment's author and the post's author may
// do so. The tombstone has another type, so lists do not
// read it. It keeps its text until the projector sets its ttl, for a repeated request.
function deleteComment(args) {
  const maxRecent = 3;
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";
  let post;

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  accepted(collection.readDocument(items + args.postId, onPost));

  function onPost(err, item) {
    if (err && err.number !== 404) fail(err);
    if (err || item.type !== "post" || item.deleted) {
      response.setBody({ code: "POST_NOT_FOUND" });
      return;
    }
    post = item;
    accepted(collection.readDocument(items + args.id, onComment));
  }

  function onComment(err, comment) {
    if (err && err.number !== 404) fail(err);
    if (!err && comment.type === "tombstone") {
      answer("COMMENT_DELETED", comment, post); // with the comment: the caller may have just deleted it
    } else if (err || comment.type !== "comment") {
      response.setBody({ code: "COMMENT_NOT_FOUND" });
    } else if (comment.userId !== args.userId && post.userId !== args.userId) {
      response.setBody({ code: "FORBIDDEN" });
    } else {
      remove(comment);
    }
  }

  function remove(comment) {
    const recent = recentComments(post);
    const left = recent.filter((c) => c.id !== comment.id);
    if (left.length === recent.length || count(post.commentCount) <= recent.length) {
      post.recentComments = left;
      mark(comment);
    } else {
      findNewest(comment, [], "");
    }
  }

  // Finds the newest comments, and the one to delete among them.
  function findNewest(comment, found, continuation) {
    const query = {
      query: "SELECT TOP @n * FROM c WHERE c.type = 'comment' ORDER BY c.type, c.sortKey DESC",
      parameters: [{ name: "@n", value: maxRecent + 1 }]
    };
    const options = { pageSize: maxRecent + 1 };
    if (continuation) options.continuation = continuation;
    accepted(collection.queryDocuments(collection.getSelfLink(), query, options, (err, page, options) => {
      if (err) fail(err);
      const newest = found.concat(page);
      if (options.continuation) findNewest(comment, newest, options.continuation);
      else setRecent(comment, newest.filter((c) => c.id !== comment.id).slice(0, maxRecent));
    }));
  }

  // Writes the comments that become recent ones, or that the post shows in another state, without a
  // change. An edit or a rename of such a comment at the same time does not write the post: a rename
  // in several executions writes it in the first one only. It would be missing there, because scripts
  // run under snapshot isolation: only an item that two transactions write makes one of them fail.
  function setRecent(comment, newest) {
    const known = recentComments(post).map((c) => JSON.stringify(c));
    post.recentComments = newest.map(recentOf);
    touch(newest.filter((c) => known.indexOf(JSON.stringify(recentOf(c))) < 0), () => mark(comment));
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

  function mark(comment) {
    comment.type = "tombstone";
    comment.deleted = true;
    accepted(collection.replaceDocument(comment._self, comment, { etag: comment._etag }, onMarked));
  }

  function onMarked(err, comment) {
    if (err) fail(err);
    post.commentCount = Math.max(count(post.commentCount) - 1, 0);
    post.revision = count(post.revision) + 1;
    accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err, replaced) => {
      if (err) fail(err);
      answer("OK", comment, replaced);
    }));
  }

  function answer(code, comment, post) {
    delete post.content;
    response.setBody({ code: code, comment: comment, post: post });
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
