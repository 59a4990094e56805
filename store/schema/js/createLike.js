// Creates a user's like of a post and increments the post's like count, in one transaction. The
// like's id is the user's id. It returns the post. If the user has already liked the post, the
// script returns that like too, and writes nothing. If the deadline has passed, it writes nothing
// either.
function createLike(args) {
  readPost(post => {
    accepted(collection.createDocument(collection.getSelfLink(), args.like, { disableAutomaticIdGeneration: true }, err => {
      if (err && err.number === 409) {
        accepted(collection.readDocument(items + args.like.id, (err, existing) => {
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

      write(post, replaced => {
        delete replaced.content;
        response.setBody({ code: "OK", post: replaced });
      });
    }));
  });
}
