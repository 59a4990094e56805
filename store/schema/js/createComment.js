// Creates a comment and increments the post's comment count, in one transaction. If the comment's
// id exists, the request is a repetition: the script returns the existing comment and writes
// nothing. If the deadline has passed, it writes nothing either.
function createComment(args) {
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
    accepted(collection.createDocument(collection.getSelfLink(), newComment(), { disableAutomaticIdGeneration: true }, onCreated));
  }

  // Copies only known arguments, so that nothing else enters the container.
  function newComment() {
    const comment = {
      id: args.id,
      postId: args.postId,
      type: "comment",
      userId: args.userId,
      userUsername: args.userUsername,
      authorRevision: args.authorRevision,
      content: args.content,
      creationDate: args.creationDate,
      deleted: false
    };
    if (args.inputHash) comment.inputHash = args.inputHash;
    return comment;
  }

  function onCreated(err, comment) {
    if (err && err.number === 409) {
      accepted(collection.readDocument(items + args.id, onExisting));
      return;
    }
    if (err) fail(err);
    post.commentCount = count(post.commentCount) + 1;
    post.revision = count(post.revision) + 1;
    accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err, replaced) => {
      if (err) fail(err);
      answer(false, comment, replaced);
    }));
  }

  function onExisting(err, item) {
    if (err) fail(err);
    const isTombstone = item.type === "tombstone"; // deleted; authorId replaces userId at the end
    if (!isTombstone && item.type !== "comment" || (item.userId || item.authorId) !== args.userId ||
      (item.inputHash || "") !== (args.inputHash || "")) {
      response.setBody({ code: "KEY_REUSED" });
    } else if (isTombstone) {
      response.setBody({ code: "COMMENT_DELETED" });
    } else {
      answer(true, item, post);
    }
  }

  function answer(duplicate, comment, post) {
    delete post.content;
    response.setBody({ code: "OK", duplicate: duplicate, comment: comment, post: post });
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
