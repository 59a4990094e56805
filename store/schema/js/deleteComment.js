// Turns a comment into a tombstone and decrements the post's comment count, in one transaction. The
// comment's author and the post's author may do so. The tombstone has another type, so lists do not
// read it. It keeps its text until the projector sets its ttl, for a repeated request.
function deleteComment(args) {
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
      comment.type = "tombstone";
      comment.deleted = true;
      accepted(collection.replaceDocument(comment._self, comment, { etag: comment._etag }, onMarked));
    }
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
