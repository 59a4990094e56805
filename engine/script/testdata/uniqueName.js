// Pre-trigger of creates and replaces: keeps names unique. Each used name has its own item,
// whose id contains the name.
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
