// Replaces the content of a comment, and in the same transaction its excerpt in the post's recent
// comments, if it is one. Only its author may do so. If the content is already the same, the script
// writes nothing. A comment remembers the ids of its latest edits, so a repeated request has no
// effect, even after a later edit.
//
// The post is read because comments of a deleted post cannot be edited. It is not written if nothing
// in it changes. A comment that becomes a recent one at the same time is written by deleteComment
// too, so that one of the two scripts fails and is repeated. If the deadline has passed, the script
// writes nothing, so that it does not undo a later edit.
function updateComment(args) {
  const maxEdits = 8; // more than are made while one request is repeated
  let post;

  readPost(item => {
    post = item;
    accepted(collection.readDocument(items + args.id, onComment));
  });

  function onComment(err, comment) {
    if (err && err.number !== 404) fail(err);
    if (!err && comment.type === "tombstone") {
      response.setBody({ code: "COMMENT_DELETED" });
    } else if (err || comment.type !== "comment") {
      response.setBody({ code: "COMMENT_NOT_FOUND" });
    } else if (comment.userId !== args.userId) {
      response.setBody({ code: "FORBIDDEN" });
    } else if (comment.content === args.content || (comment.edits || []).indexOf(args.edit) >= 0) {
      answer(comment);
    } else {
      comment.content = args.content;
      if (args.excerpt) comment.excerpt = args.excerpt;
      else delete comment.excerpt;
      comment.edits = (comment.edits || []).concat(args.edit).slice(-maxEdits);
      comment.updatedDate = latest(args.updatedDate, comment.updatedDate || comment.creationDate);
      write(comment, onReplaced);
    }
  }

  function onReplaced(comment) {
    const recent = recentComments(post);
    const i = recent.findIndex((c) => c.id === comment.id);
    if (i < 0) {
      answer(comment);
      return;
    }
    recent[i] = recentOf(comment);
    post.revision = count(post.revision) + 1;
    write(post, replaced => {
      post = replaced;
      answer(comment);
    });
  }

  function answer(comment) {
    delete post.content;
    response.setBody({ code: "OK", comment: comment, post: post });
  }

  // Server clocks differ. An edit must not be dated before the version it replaces.
  function latest(a, b) {
    return a > b ? a : b;
  }
}
