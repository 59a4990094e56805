// Deletes a user's like of a post and decrements the post's like count, in one transaction. If
// there is no such like, or if the deadline has passed, the script writes nothing.
//
// A like with a later revision of the user than the argument's was created or renamed after the
// caller read the user. It may belong to the account's next user, so the script returns it and
// writes nothing.
function deleteLike(args) {
  let post;

  readPost(item => {
    post = item;
    accepted(collection.readDocument(items + args.userId, onLike));
  });

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
    write(post, replaced => answer(true, replaced));
  }

  function answer(removed, post) {
    delete post.content;
    response.setBody({ code: "OK", removed: removed, post: post });
  }
}
