// Post-trigger of each write: updates an item with the number of writes and the sum of their
// values.
function keepTotals() {
  var collection = getContext().getCollection(), response = getContext().getResponse();
  var written = response.getBody();
  must(collection.queryDocuments(collection.getSelfLink(), "SELECT * FROM c WHERE c.id = 'totals'", function (err, found) {
    if (err) throw new Error(err.number, err.body);
    var totals = found[0] || { id: "totals", postId: written.postId, writes: 0, n: 0 };
    totals.writes++;
    totals.n += written.n;
    must(collection.upsertDocument(collection.getSelfLink(), totals, found[0] ? { etag: found[0]._etag } : {}, function (err) {
      if (err) throw new Error(err.number, err.body);
      response.setBody({ id: written.id, writes: totals.writes });
    }));
  }));

  function must(accepted) {
    if (!accepted) throw new Error(503, "not accepted");
  }
}
