// Counts a post's comments and likes, tombstones excluded, and corrects both of the post's
// counters. If they are correct, the script writes nothing. All items are counted before the write,
// so it does not matter whether queries see the transaction's own writes.
function recountPost(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";
  let post;
  let comments = 0;
  let likes = 0;

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
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
    find("");
  }

  function find(continuation) {
    const query = { // the range excludes tombstones in the index
      query: "SELECT c.type FROM c WHERE c.type IN ('comment', 'like') AND c.type < 'tombstone'",
      parameters: []
    };
    const options = { pageSize: 1000 };
    if (continuation) options.continuation = continuation;
    accepted(collection.queryDocuments(collection.getSelfLink(), query, options, onPage));
  }

  function onPage(err, page, options) {
    if (err) fail(err);
    page.forEach((item) => {
      if (item.type === "like") likes += 1;
      else comments += 1;
    });
    if (options.continuation) find(options.continuation);
    else write();
  }

  function write() {
    if (post.commentCount === comments && post.likeCount === likes) {
      answer(0, post);
      return;
    }
    post.commentCount = comments;
    post.likeCount = likes;
    post.revision = count(post.revision) + 1;
    accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err, replaced) => {
      if (err) fail(err);
      answer(1, replaced);
    }));
  }

  function answer(updated, post) {
    delete post.content;
    response.setBody({ code: "OK", updated: updated, post: post });
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
