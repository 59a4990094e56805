// Counts the items of a query page by page. It resumes where an earlier call stopped.
function count(query, from, soFar) {
  var collection = getContext().getCollection();
  var total = soFar || 0;
  next(from);

  function next(continuation) {
    var options = { pageSize: 4 };
    if (continuation) options.continuation = continuation;
    var accepted = query
      ? collection.queryDocuments(collection.getSelfLink(), query, options, onPage)
      : collection.readDocuments(collection.getSelfLink(), options, onPage);
    if (!accepted) answer(continuation, true);
  }

  function onPage(err, items, options) {
    if (err) throw new Error(err.number, err.body);
    total += items.length;
    if (options.continuation) next(options.continuation);
    else answer(null, false);
  }

  function answer(continuation, more) {
    getContext().getResponse().setBody({ count: total, continuation: continuation, more: more });
  }
}
