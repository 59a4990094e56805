// Turns a comment into a tombstone, decrements the post's comment count, and replaces the comment in
// the post's recent comments, all in one transaction. The comment's author and the post's author may
// do so. The tombstone has another type, so lists do not
// read it. It keeps its text until the projector sets its ttl, for a repeated request.
function deleteComment(args) {
  let post;

  readPost(item => {
    post = item;
    accepted(collection.readDocument(items + args.id, onComment));
  });

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
      findNewest(maxRecent + 1, newest => setRecent(comment, newest.filter((c) => c.id !== comment.id).slice(0, maxRecent)));
    }
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

  function mark(comment) {
    comment.type = "tombstone";
    comment.deleted = true;
    write(comment, onMarked);
  }

  function onMarked(comment) {
    post.commentCount = Math.max(count(post.commentCount) - 1, 0);
    post.revision = count(post.revision) + 1;
    write(post, replaced => answer("OK", comment, replaced));
  }

  function answer(code, comment, post) {
    delete post.content;
    response.setBody({ code: code, comment: comment, post: post });
  }
}
