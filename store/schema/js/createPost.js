// Creates a post, and in the same transaction the item of its content if that is long. If the post's
// id exists, the request is a repetition: the script returns the existing post and writes nothing.
// If the deadline has passed, it writes nothing either.
function createPost(args) {
  const post = args.post;
  const options = { disableAutomaticIdGeneration: true };

  accepted(collection.createDocument(collection.getSelfLink(), post, options, err => {
    if (err && err.number === 409) {
      accepted(collection.readDocument(items + post.id, onExisting));
      return;
    }
    if (err) fail(err);
    response.setBody({ code: "OK", duplicate: false });
    if (args.content) {
      accepted(collection.createDocument(collection.getSelfLink(), args.content, options, err => {
        if (err) fail(err);
      }));
    }
  }));

  function onExisting(err, item) {
    if (err) fail(err);
    if (item.type !== "post" || (item.userId || item.authorId) !== post.userId || (item.inputHash || "") !== (post.inputHash || "")) {
      response.setBody({ code: "KEY_REUSED" });
    } else if (item.deleted) {
      response.setBody({ code: "POST_NOT_FOUND" });
    } else {
      response.setBody({ code: "OK", duplicate: true, post: item });
    }
  }
}
