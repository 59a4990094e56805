// Keeps the feed short: the post-trigger of each write of a post's short copy to feed. The newest 200 copies stay (the
// feed shows 100; the others are there to take a deleted post's place), older ones are deleted. The item "horizon"
// holds the position of the newest copy that was ever deleted so: feed holds each post that is newer, and no other.
//
// A trigger's failure would undo the write that it belongs to. This is housekeeping and never fails: what it cannot do
// now is left, to the next write's trigger if it is still too much then. The horizon is raised before anything is
// deleted, so that whatever comes between leaves a copy too many and never one too few. It is written also where the copies
// that go lie below it: they were just brought back by somebody who is about to lower it, and who finds it written now.
function truncateFeed() {
  const keep = 200;
  const collection = getContext().getCollection();
  const written = getContext().getResponse().getBody();
  let horizon = null;

  if (!written || written.type !== "post" || written.deleted !== false) return; // a tombstone, or the horizon itself
  if (!collection.readDocument(collection.getAltLink() + "/docs/horizon", onHorizon)) return;

  function onHorizon(err, item) {
    if (err && err.number !== 404) return;
    horizon = err ? null : item;
    if (isAboveHorizon(written)) find("", []);
    else remove([written]);
  }

  // A query may or may not see the write that it runs behind, so it leaves that copy out, and trim puts it where it
  // belongs. It gives the others from the 200th on, newest first.
  function find(continuation, found) {
    const query = {
      query: "SELECT c.id, c.creationDate, c._self FROM c WHERE c.type = 'post' AND c.deleted = false AND c.id != @id" +
        " ORDER BY c.type, c.creationDate DESC, c.id DESC OFFSET @offset LIMIT 1000",
      parameters: [
        { name: "@id", value: written.id },
        { name: "@offset", value: keep - 1 }
      ]
    };
    const options = { pageSize: 100 };
    if (continuation) options.continuation = continuation;
    if (!collection.queryDocuments(collection.getSelfLink(), query, options, onFound)) return;

    function onFound(err, page, options) {
      if (err) return;
      const others = found.concat(page);
      if (options.continuation) find(options.continuation, others);
      else trim(others);
    }
  }

  // The oldest goes first: when not all can go, those that stay are next to the ones that should.
  function trim(others) {
    if (others.length === 0) return;
    const surplus = isNewer(written, others[0]) ? others : others.slice(1).concat(written);
    surplus.sort((a, b) => isNewer(a, b) ? 1 : -1);
    writeHorizon(surplus[surplus.length - 1], () => remove(surplus));
  }

  function writeHorizon(copy, next) {
    const item = horizon || { id: "horizon", type: "post" };
    if (isAboveHorizon(copy)) {
      item.creationDate = copy.creationDate;
      item.postId = copy.id;
    }
    if (horizon) {
      if (!collection.replaceDocument(horizon._self, item, { etag: horizon._etag }, onWritten)) return;
    } else {
      if (!collection.createDocument(collection.getSelfLink(), item, { disableAutomaticIdGeneration: true }, onWritten)) return;
    }

    function onWritten(err) {
      if (!err) next();
    }
  }

  function remove(copies) {
    if (copies.length === 0) return;
    if (!collection.deleteDocument(copies[0]._self, {}, () => remove(copies.slice(1)))) return;
  }

  function isAboveHorizon(copy) {
    return !horizon || isNewer(copy, { creationDate: horizon.creationDate, id: horizon.postId });
  }

  function isNewer(a, b) {
    return a.creationDate > b.creationDate || a.creationDate === b.creationDate && a.id > b.id;
  }
}
