// Counts a post's live comments and likes and, where the post counts otherwise, sets both counters, all or nothing. The
// items are counted before anything is written, so it does not matter whether queries see the transaction's own writes.
// Where the post counts them right, nothing is written.
function recountPost(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();
  const items = collection.getAltLink() + "/docs/";
  let post;
  let comments = 0;
  let likes = 0;

  if (args.probe) { // serve asks whether the script is there
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
    const query = {
      query: "SELECT c.type FROM c WHERE c.type = 'like' OR c.type = 'comment' AND c.deleted = false",
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

  // Once the time is nearly used up, operations are refused and their callbacks never run: what was written must not
  // stay alone.
  function accepted(isAccepted) {
    if (!isAccepted) throw new Error(429, "The time for this script is used up.");
  }

  function fail(err) {
    throw new Error(err.number, err.body || err.message);
  }
}
