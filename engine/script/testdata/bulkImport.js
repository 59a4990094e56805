function bulkImport(items) {
  var collection = getContext().getCollection(), link = collection.getSelfLink(), count = 0;
  getContext().getResponse().setBody(0);
  if (!items) throw new Error(400, 'NOTHING_TO_IMPORT');
  create();
  function create() {
    if (count === items.length) return;
    collection.createDocument(link, items[count], function (err) {
      if (err) throw new Error(err.number, items[count].id + ': ' + err.message);
      getContext().getResponse().setBody(++count);
      create();
    });
  }
}
