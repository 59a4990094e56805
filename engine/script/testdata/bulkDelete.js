function bulkDelete(query) {
  const context = getContext(), collection = context.getCollection(), response = context.getResponse();
  const progress = { deleted: 0, more: true };
  response.setBody(progress);
  next();
  function next() {
    collection.queryDocuments(collection.getSelfLink(), query, { pageSize: 10 }, (err, items) => {
      if (err) throw err;
      if (items.length === 0) progress.more = false;
      else remove(items);
    });
  }
  function remove(items) {
    if (items.length === 0) return next();
    const accepted = collection.deleteDocument(items[0]._self, { etag: items[0]._etag }, err => {
      if (err) throw err;
      progress.deleted++;
      remove(items.slice(1));
    });
    if (!accepted) progress.more = true;
  }
}
