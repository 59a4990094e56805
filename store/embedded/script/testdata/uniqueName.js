// Before an item is created or replaced: lets no two items have the same name. A name that is taken has an item of its
// own, whose id is made of it.
function uniqueName() {
  const request = getContext().getRequest(), collection = getContext().getCollection();
  const docs = collection.getAltLink() + "/docs/";
  const item = request.getBody();
  if (request.getOperationType() === "Create") take();
  else must(collection.readDocument(docs + item.id, release));

  function release(err, old) {
    if (err) throw new Error(err.number, err.body);
    if (old.name === item.name) return;
    must(collection.deleteDocument(docs + "name " + old.name, {}, function (err) {
      if (err) throw new Error(err.number, err.body);
      take();
    }));
  }

  function take() {
    must(collection.createDocument(collection.getSelfLink(), { id: "name " + item.name, postId: item.postId }, function (err) {
      if (err) throw new Error(err.number, "the name is taken");
    }));
  }

  function must(accepted) {
    if (!accepted) throw new Error(503, "not accepted");
  }
}
