// Replaces the item with the id of the given one, or creates it. It is optimized for items that
// usually exist.
function upsert(item) {
  var collection = getContext().getCollection(), response = getContext().getResponse();
  if (!item || !item.id) throw new Error(400, "an item with an id is needed");
  find(null);

  function find(continuation) {
    var query = { query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: item.id }] };
    must(collection.queryDocuments(collection.getSelfLink(), query, { continuation: continuation }, function (err, found, options) {
      if (err) throw err;
      if (found.length > 0) must(collection.replaceDocument(found[0]._self, item, { etag: found[0]._etag }, done("replaced")));
      else if (options.continuation) find(options.continuation);
      else must(collection.createDocument(collection.getSelfLink(), item, done("created")));
    }));
  }

  function done(what) {
    return function (err) {
      if (err) throw err;
      response.setBody({ done: what });
    };
  }

  function must(accepted) {
    if (!accepted) throw new Error(503, "not accepted");
  }
}
