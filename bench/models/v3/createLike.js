// Creates a like and counts it on its post, in one transaction: the article's createLike, with
// a check of every request.
function createLike(like) {
  const collection = getContext().getCollection();
  const post = collection.getAltLink() + "/docs/" + like.postId;
  accepted(collection.readDocument(post, (err, post) => {
    if (err) throw err;
    post.likeCount++;
    accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, err => {
      if (err) throw err;
      accepted(collection.createDocument(collection.getSelfLink(), like, err => {
        if (err) throw err;
        getContext().getResponse().setBody(like);
      }));
    }));
  }));

  function accepted(isAccepted) {
    if (!isAccepted) throw new Error("The time for this script is used up.");
  }
}
