// Keeps the feed what it should be: the post-trigger of each write that makes a post's short copy in feed, or that puts the
// horizon somewhere. The newest 200 copies stay (the feed shows 100; the others are there to take a deleted post's place),
// older ones are deleted. The item "horizon" holds the position of the newest copy that was ever deleted so: feed holds each
// post that is newer, and no other; while it is filled again, those too that are newer than where the filling ends.
//
// A trigger's failure undoes the write that it belongs to. Trimming is housekeeping: what cannot be begun now is left to the
// next write's trigger. But once the horizon is raised, all that goes must go, and a copy that belongs below the horizon must not stay:
// where that cannot be done, nothing is, and the projector writes again. So only a few go at a time. The horizon is written also
// where the copies that go lie below it: they were just brought back by somebody who is about to lower it, and who finds
// it written now.
//
// A horizon that is marked as refilling promises nothing of what lies below. There, what is done stays where the rest is refused: so
// that any number of copies goes in the end, the projector puts a horizon with a mark until one without it is accepted.
function truncateFeed() {
  const keep = 200;
  const most = 5;
  const part = 20;
  const collection = getContext().getCollection();
  const written = getContext().getResponse().getBody();
  let horizon = null;

  if (!written || written.type !== "post") return;
  if (written.id === "horizon") {
    horizon = written;
    findBelow("");
  } else if (written.deleted === false) { // no tombstone
    accepted(collection.readDocument(collection.getAltLink() + "/docs/horizon", onHorizon));
  }

  function onHorizon(err, item) {
    if (err && err.number !== 404) fail(err);
    horizon = err ? null : item;
    if (isAboveHorizon(written)) find();
    else if (!isRefilled(written)) remove([written]);
  }

  // A query may or may not see the write that it runs behind, so it leaves that copy out. This gives the others from the 200th
  // on: as many as they are, so many copies are too many.
  function find() {
    const order = " ORDER BY c.type, c.creationDate DESC, c.id DESC OFFSET @offset LIMIT @most";
    queryOthers(order, keep - 1, "", [], (others) => {
      if (others.length < most) trim(others);
      else findOldest();
    });
  }

  // The oldest goes first: when not all can go, those that stay are next to the ones that should.
  function findOldest() {
    queryOthers(" ORDER BY c.type DESC, c.creationDate, c.id OFFSET @offset LIMIT @most", 0, "", [], trim);
  }

  function queryOthers(order, offset, continuation, found, next) {
    const query = {
      query: "SELECT c.id, c.creationDate, c._self FROM c WHERE c.type = 'post' AND c.deleted = false AND c.id != @id" + order,
      parameters: [
        { name: "@id", value: written.id },
        { name: "@offset", value: offset },
        { name: "@most", value: most }
      ]
    };
    const options = { pageSize: 100 };
    if (continuation) options.continuation = continuation;
    if (!collection.queryDocuments(collection.getSelfLink(), query, options, onFound)) return;

    function onFound(err, page, options) {
      if (err) return;
      const others = found.concat(page);
      if (options.continuation) queryOthers(order, offset, options.continuation, others, next);
      else next(others);
    }
  }

  // Of some copies and the one that was written, as many of the oldest go as those are.
  function trim(copies) {
    if (copies.length === 0) return;
    const oldest = copies.concat(written).sort((a, b) => isNewer(a, b) ? 1 : -1).slice(0, copies.length);
    writeHorizon(oldest[oldest.length - 1], () => remove(oldest));
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

  // Behind a horizon that was put somewhere, nothing stays below it: what was brought back there and comes not above it was
  // brought back in vain. So much goes at a time that others still have some throughput.
  function findBelow(continuation) {
    const query = {
      query: "SELECT c.id, c._self FROM c WHERE c.type = 'post' AND c.deleted = false" +
        " AND (c.creationDate < @date OR c.creationDate = @date AND c.id <= @id)",
      parameters: [
        { name: "@date", value: horizon.creationDate },
        { name: "@id", value: horizon.postId }
      ]
    };
    const options = { pageSize: part };
    if (continuation) options.continuation = continuation;
    accepted(collection.queryDocuments(collection.getSelfLink(), query, options, onFound));

    function onFound(err, page, options) {
      if (err) fail(err);
      if (options.continuation && page.length === 0) {
        findBelow(options.continuation);
      } else {
        accepted(!options.continuation);
        remove(page);
      }
    }
  }

  function remove(copies) {
    if (copies.length === 0) return;
    accepted(collection.deleteDocument(copies[0]._self, {}, (err) => {
      if (err && err.number !== 404) fail(err);
      remove(copies.slice(1));
    }));
  }

  function isAboveHorizon(copy) {
    return !horizon || isNewer(copy, { creationDate: horizon.creationDate, id: horizon.postId });
  }

  // A refill that ends with the last post of all has no date.
  function isRefilled(copy) {
    return horizon.refilling && isNewer(copy, { creationDate: horizon.refillDate || "", id: horizon.refillPostId || "" });
  }

  function isNewer(a, b) {
    return a.creationDate > b.creationDate || a.creationDate === b.creationDate && a.id > b.id;
  }

  function accepted(isAccepted) {
    if (!isAccepted && !(horizon && horizon.refilling)) throw new Error(429, "The time for this script is used up.");
  }

  function fail(err) {
    throw new Error(err.number, err.body || err.message);
  }
}
