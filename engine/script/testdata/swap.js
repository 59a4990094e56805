function swap(first, second, property) {
  const collection = __, docs = collection.getAltLink() + '/docs/';
  const must = accepted => { if (!accepted) throw new Error(503, 'NOT_ACCEPTED'); };
  const good = then => (err, item) => { if (err) throw new Error(err.number, err.message); then(item); };
  must(collection.readDocument(docs + first, {}, good(a => {
    must(collection.readDocument(docs + second, {}, good(b => {
      [a[property], b[property]] = [b[property], a[property]];
      must(collection.replaceDocument(a._self, a, { etag: a._etag }, good(() => {
        must(collection.replaceDocument(b._self, b, { etag: b._etag }, good(() => collection.response.setBody(true))));
      })));
    })));
  })));
}
