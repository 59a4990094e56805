// Creates a comment and counts it on its post, in one transaction: the article's createComment, with
// a check of every request.
function createComment(comment) {
  const collection = getContext().getCollection();
  const post = collection.getAltLink() + "/docs/" + comment.postId;
  accepted(collection.readDocument(post, (err, post) => {
    if (err) throw err;
    post.commentCount++;
    accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, err => {
      if (err) throw err;
      accepted(collection.createDocument(collection.getSelfLink(), comment, err => {
        if (err) throw err;
        getContext().getResponse().setBody(comment);
      }));
    }));
  }));

  function accepted(isAccepted) {
    if (!isAccepted) throw new Error("The time for this script is used up.");
  }
}
