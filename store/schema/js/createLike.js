// Creates a user's like of a post and increments the post's like count, in one transaction. The
// like's id is the user's id. It returns the post. If the user has already liked the post, the
// script returns that like too, and writes nothing. If the deadline has passed, it writes nothing
// either.
function createLike(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  if (args.deadline && Date.now() > args.deadline) {
    response.setBody({ code: "TOO_LATE" });
    return;
  }

  accepted(collection.readDocument(items + args.postId, (err, post) => {
    if (err && err.number !== 404) fail(err);
    if (err || post.type !== "post" || post.deleted) {
      response.setBody({ code: "POST_NOT_FOUND" });
      return;
    }
    // Copies only known arguments, so that nothing else enters the container.
    const like = {
      id: args.userId,
      postId: args.postId,
      type: "like",
      userId: args.userId,
      userUsername: args.userUsername,
      authorRevision: args.authorRevision,
      creationDate: args.creationDate,
      sortKey: args.creationDate + "/" + args.userId
    };

    accepted(collection.createDocument(collection.getSelfLink(), like, { disableAutomaticIdGeneration: true }, err => {
      if (err && err.number === 409) {
        accepted(collection.readDocument(items + args.userId, (err, existing) => {
          if (err) fail(err);
          if (existing.type !== "like") throw new Error("There is something else under the like's id.");
          delete post.content;
          response.setBody({ code: "OK", duplicate: true, like: existing, post: post });
        }));
        return;
      }
      if (err) fail(err);
      post.likeCount = count(post.likeCount) + 1;
      post.revision = count(post.revision) + 1;

      accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err, replaced) => {
        if (err) fail(err);
        delete replaced.content;
        response.setBody({ code: "OK", post: replaced });
      }));
    }));
  }));

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
