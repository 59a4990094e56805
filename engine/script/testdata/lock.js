// Acquires or renews a lock, which expires some seconds after its last renewal.
function lock(name, owner, seconds) {
  const collection = __, link = collection.getAltLink();
  must(collection.readDocument(`${link}/docs/${name}`, (err, held) => {
    if (err && err.number !== 404) throw new Error(err.number, err.message);
    if (!held) {
      const item = { id: name, postId: "p1", owner: owner, ttl: seconds };
      must(collection.createDocument(link, item, answered));
    } else if (held.owner === owner) {
      held.ttl = seconds;
      must(collection.replaceDocument(held._self, held, { etag: held._etag }, answered));
    } else {
      collection.response.setBody({ owner: held.owner });
    }
  }));

  function answered(err, held) {
    if (err) throw new Error(err.number, err.message);
    collection.response.setBody({ owner: held.owner });
  }

  function must(accepted) {
    if (!accepted) throw new Error(503, "not accepted");
  }
}
