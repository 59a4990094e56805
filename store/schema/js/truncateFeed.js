// Trims the feed. This post-trigger runs after each write of a post's short copy in the container
// feed.
//
// The newest 200 copies stay and older ones are deleted, 20 at a time. The feed shows 100; the
// others replace deleted posts. Queries fix and order by "deleted", the first property of the
// composite index, so tombstones cost nothing. The item "horizon" holds the position of the newest
// copy ever trimmed. feed therefore holds every post newer than the horizon. During a refill, it
// also holds the posts newer than the position where the refill ends.
//
// Copies below the horizon may stay, and some are of earlier states of their posts. They are surplus,
// so later triggers delete them. A refill that lowers the horizon below them writes them again.
//
// The horizon's property "room" is the number of copies that may be created before the trigger
// searches for surplus copies again. The search reads 200 copies, so most writes do without it. If
// there are more surplus copies than one execution deletes, there is no room, and the next write
// continues. What an execution has no time to delete waits until the room is used up. Other writers
// may leave out the room, which means zero. A wrong room costs a search, or delays one: it never
// decides which copies stay.
//
// If a trigger fails, its write is undone. Trimming can wait: what one trigger has no time to find
// or to delete, a later one deletes. But a written copy below the horizon must not stay, because it
// has not arrived. If there is no time for that, the trigger fails, and the projector repeats the
// write.
//
// The horizon is written even if the trimmed copies are below it. A refill may have just restored
// them, and be about to lower the horizon. A trim removes the refill's id from the horizon, so that
// the refill starts again.
//
// A trigger that keeps the written copy, and trims nothing, writes the horizon too, and leaves its
// position. Scripts run under snapshot isolation: only an item that two transactions write makes
// one of them fail. Without this write, another one could move the horizon at the same time, and
// would not see the copy. If there is no horizon, the trigger creates one below all posts.
//
// Each copy that comes into the feed has a date of arrival, and the horizon has the last one. Readers
// who follow the feed read what arrived after a date. As each of these transactions writes the
// horizon, a later one can see the date of the one before, and gives a later date. The writer gives
// the time; the trigger changes it if it is not later. A refill restores copies, which do not arrive.
// The horizon also has the latest arrival of the trimmed copies, so that readers learn what they missed.
function truncateFeed() {
  const keep = 200;
  const most = 20;
  const collection = getContext().getCollection();
  const written = getContext().getResponse().getBody();
  let horizon = null;
  let lastArrival = "";

  if (!written || typeof written !== "object") {
    throw new Error("The write did not ask for the written item, so the trigger cannot see it.");
  }
  if (written.type === "post" && written.deleted === false) { // neither a tombstone nor the horizon
    accepted(collection.readDocument(collection.getAltLink() + "/docs/horizon", onHorizon));
  }

  function onHorizon(err, item) {
    if (err && err.number !== 404) fail(err);
    horizon = err ? null : item;
    if (isAboveHorizon(written)) arrive();
    else if (isRefilled(written)) setArrival("", touchHorizon);
    else accepted(collection.deleteDocument(written._self, {}, (err) => { if (err) fail(err); }));
  }

  function arrive() {
    if (!written.arrivalDate) {
      keepWritten();
      return;
    }
    lastArrival = after(written.arrivalDate, horizon && horizon.lastArrival || "");
    setArrival(lastArrival, keepWritten);
  }

  // Sets the arrival date of the written copy, or removes it.
  function setArrival(date, next) {
    if ((written.arrivalDate || "") === date) {
      next();
      return;
    }
    if (date) written.arrivalDate = date;
    else delete written.arrivalDate;
    accepted(collection.replaceDocument(written._self, written, { etag: written._etag }, (err) => {
      if (err) fail(err);
      next();
    }));
  }

  // Returns a date, or a microsecond after the last one if it is not later. Dates have the form
  // 2026-03-04T12:00:00.000000Z.
  function after(date, last) {
    if (date > last) return date;
    const micros = Number(last.slice(20, 26)) + 1;
    if (micros < 1000000) return last.slice(0, 20) + String(1000000 + micros).slice(1) + "Z";
    return new Date(Date.parse(last.slice(0, 19) + "Z") + 1000).toISOString().slice(0, 20) + "000000Z";
  }

  function keepWritten() {
    if (horizon && horizon.room > 0) {
      horizon.room -= 1;
      touchHorizon();
    } else {
      find("", []);
    }
  }

  // Finds the other copies from the 200th on; their number is the number of surplus copies. The
  // query excludes the written copy, because it may or may not see the write that triggered it.
  function find(continuation, found) {
    const query = {
      query: "SELECT c.id, c.creationDate, c.arrivalDate, c._self FROM c WHERE c.deleted = false AND c.id != @id" +
        " ORDER BY c.deleted, c.sortKey DESC OFFSET @offset LIMIT @limit",
      parameters: [
        { name: "@id", value: written.id },
        { name: "@offset", value: keep - 1 },
        { name: "@limit", value: most + 1 }
      ]
    };
    const options = { pageSize: 100 };
    if (continuation) options.continuation = continuation;
    if (!collection.queryDocuments(collection.getSelfLink(), query, options, onFound)) touchHorizon();

    function onFound(err, page, options) {
      if (err) {
        touchHorizon();
        return;
      }
      const others = found.concat(page);
      if (options.continuation) find(options.continuation, others);
      else trim(others.slice(0, most), others.length > most ? 0 : most - 1);
    }
  }

  // Deletes the oldest among the given copies and the written one, and sets the room. The number of
  // deletions is the number of given copies.
  function trim(copies, room) {
    const item = horizon || newHorizon();
    item.room = room;
    if (copies.length === 0) {
      writeHorizon(item, () => {});
      return;
    }
    const oldest = copies.concat(written).sort((a, b) => isNewer(a, b) ? 1 : -1).slice(0, copies.length);
    const newest = oldest[oldest.length - 1];
    if (isAboveHorizon(newest)) {
      item.creationDate = newest.creationDate;
      item.postId = newest.id;
    }
    delete item.refillId;
    const latest = oldest.map((copy) => copy.arrivalDate || "").concat(item.trimmedArrival || "").sort().pop();
    if (latest) item.trimmedArrival = latest;
    writeHorizon(item, () => remove(oldest));
  }

  function touchHorizon() {
    writeHorizon(horizon || newHorizon(), () => {});
  }

  function newHorizon() {
    return { id: "horizon", type: "post", creationDate: "", postId: "" };
  }

  // Writes the horizon. If that is rejected, the trigger fails.
  function writeHorizon(item, next) {
    if (lastArrival) item.lastArrival = lastArrival;
    if (horizon) accepted(collection.replaceDocument(horizon._self, item, { etag: horizon._etag }, onWritten));
    else accepted(collection.createDocument(collection.getSelfLink(), item, { disableAutomaticIdGeneration: true }, onWritten));

    function onWritten(err) {
      if (err) fail(err);
      next();
    }
  }

  // Deletes trimmed copies, as many as there is time for.
  function remove(copies) {
    if (copies.length === 0) return;
    if (!collection.deleteDocument(copies[0]._self, {}, onRemoved)) return;

    function onRemoved(err) {
      if (err && err.number !== 404) fail(err);
      remove(copies.slice(1));
    }
  }

  function isAboveHorizon(copy) {
    return !horizon || isNewer(copy, { creationDate: horizon.creationDate, id: horizon.postId });
  }

  // A refill that ends with the oldest post of all has no date.
  function isRefilled(copy) {
    return horizon.refilling && isNewer(copy, { creationDate: horizon.refillDate || "", id: horizon.refillPostId || "" });
  }

  function isNewer(a, b) {
    return a.creationDate > b.creationDate || a.creationDate === b.creationDate && a.id > b.id;
  }

  function accepted(isAccepted) {
    if (!isAccepted) throw new Error(429, "The time for this script is used up.");
  }

  function fail(err) {
    throw new Error(err.number, err.body || err.message);
  }
}
