function update(id, changes) {
  var docs = __.getAltLink() + '/docs/';
  if (!__.readDocument(docs + id, read)) throw new Error('NOT_ACCEPTED');
  function read(err, item) {
    if (err && err.number === 404) return __.response.setBody({ code: 'NOT_FOUND' });
    if (err) throw err;
    for (var name in changes.$inc) item[name] = (item[name] || 0) + changes.$inc[name];
    for (name in changes.$set) item[name] = changes.$set[name];
    for (name in changes.$unset) delete item[name];
    var accepted = __.replaceDocument(item._self, item, { etag: item._etag }, function (err, stored) {
      if (err) throw err;
      __.response.setBody({ code: 'OK', etag: stored._etag });
    });
    if (!accepted) throw new Error('NOT_ACCEPTED');
  }
}
