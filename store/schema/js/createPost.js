// Creates a post, and in the same transaction the item of its content if that is long. If the post's
// id exists, the request is a repetition: the script returns the existing post and writes nothing.
// If the deadline has passed, it writes nothing either.
function createPost(args) {
  accepted(collection.createDocument(collection.getSelfLink(), newPost(), { disableAutomaticIdGeneration: true }, onCreated));

  // Copies only known arguments, so that nothing else enters the container.
  function newPost() {
    const post = {
      id: args.id,
      postId: args.postId,
      userId: args.userId,
      type: "post",
      userUsername: args.userUsername,
      authorRevision: args.authorRevision,
      title: args.title,
      contentSize: args.contentSize,
      excerpt: args.excerpt,
      commentCount: 0,
      recentComments: [],
      likeCount: 0,
      creationDate: args.creationDate,
      sortKey: args.creationDate + "/" + args.id,
      version: 1,
      revision: 1,
      deleted: false
    };
    if (args.contentItem) post.contentVersion = args.contentItem.version;
    else post.content = args.content;
    if (args.tags) post.tags = args.tags;
    if (args.inputHash) post.inputHash = args.inputHash;
    return post;
  }

  function newContent() {
    const item = args.contentItem;
    return { id: item.id, postId: args.postId, type: "content", content: item.content, version: item.version };
  }

  function onCreated(err) {
    if (err && err.number === 409) {
      accepted(collection.readDocument(collection.getAltLink() + "/docs/" + args.id, onExisting));
      return;
    }
    if (err) fail(err);
    response.setBody({ code: "OK", duplicate: false });
    if (args.contentItem) {
      accepted(collection.createDocument(collection.getSelfLink(), newContent(), { disableAutomaticIdGeneration: true }, onContent));
    }
  }

  function onContent(err) {
    if (err) fail(err);
  }

  function onExisting(err, item) {
    if (err) fail(err);
    if (item.type !== "post" || (item.userId || item.authorId) !== args.userId || (item.inputHash || "") !== (args.inputHash || "")) {
      response.setBody({ code: "KEY_REUSED" });
    } else if (item.deleted) {
      response.setBody({ code: "POST_NOT_FOUND" });
    } else {
      response.setBody({ code: "OK", duplicate: true, post: item });
    }
  }
}
