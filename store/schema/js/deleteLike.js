// Deletes a user's like of a post and decrements the post's like count, in one transaction. If
// there is no such like, or if the deadline has passed, the script writes nothing.
//
// A like with a later revision of the user than the argument's was created or renamed after the
// caller read the user. It may belong to the account's next user, so the script returns it and
// writes nothing.
function deleteLike(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";
  let post;

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  if (args.deadline && Date.now() > args.deadline) {
    response.setBody({ code: "TOO_LATE" });
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
    accepted(collection.readDocument(items + args.userId, onLike));
  }

  function onLike(err, like) {
    if (err && err.number !== 404) fail(err);
    if (err || like.type !== "like") {
      answer(false, post);
      return;
    }
    if (count(like.authorRevision) > args.authorRevision) {
      response.setBody({ code: "LIKE_CHANGED", like: like });
      return;
    }
    accepted(collection.deleteDocument(like._self, { etag: like._etag }, onDeleted));
  }

  function onDeleted(err) {
    if (err) fail(err);
    post.likeCount = Math.max(count(post.likeCount) - 1, 0);
    post.revision = count(post.revision) + 1;
    accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err, replaced) => {
      if (err) fail(err);
      answer(true, replaced);
    }));
  }

  function answer(removed, post) {
    delete post.content;
    response.setBody({ code: "OK", removed: removed, post: post });
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
