// Trims the feed. This post-trigger runs after each write of a post's short copy or of the horizon
// in the container feed.
//
// The newest 200 copies stay and older ones are deleted, 20 at a time. The feed shows 100; the
// others replace deleted posts. Queries fix and order by "deleted", the first property of the
// composite index, so tombstones cost nothing. The item "horizon" holds the position of the newest
// copy ever trimmed. feed therefore holds every post newer than the horizon, and no other. During a
// refill, it also holds the posts newer than the position where the refill ends.
//
// The horizon's property "room" is the number of copies that may be created before the trigger
// searches for surplus copies again. The search reads 200 copies, so most writes do without it. The
// room bounds the number of surplus copies by 20. Other writers may leave out the room, which means
// zero. A wrong room costs a search, or delays one: it never decides which copies stay.
//
// If a trigger fails, its write is undone. Trimming can wait: if it cannot start, the trigger of
// the next write trims. But once the horizon is raised, all copies below it must be deleted, and a
// written copy below the horizon must not stay. If that is not possible, the trigger fails, and the
// projector repeats the write. Each run therefore deletes only a few copies. If more are left, there
// is no room, and the next write continues.
//
// The horizon is written even if the trimmed copies are below it. A refill has then just restored
// them and is about to lower the horizon. A trim removes the refill's id from the horizon, so that
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
//
// While the horizon is marked as refilling, the posts below it may be incomplete. Deletions there
// are kept even if a later one is rejected. To delete any number of copies, the projector writes
// the horizon with the mark until a write without the mark is accepted.
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
  if (written.type !== "post") return;
  if (written.id === "horizon") {
    horizon = written;
    findBelow("");
  } else if (written.deleted === false) { // not a tombstone
    accepted(collection.readDocument(collection.getAltLink() + "/docs/horizon", onHorizon));
  }

  function onHorizon(err, item) {
    if (err && err.number !== 404) fail(err);
    horizon = err ? null : item;
    if (isAboveHorizon(written)) arrive();
    else if (isRefilled(written)) setArrival("", touchHorizon);
    else remove([written]);
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
      find();
    }
  }

  // Finds the other copies from the 200th on; their number is the number of surplus copies. The
  // query excludes the written copy, because it may or may not see the write that triggered it.
  function find() {
    const order = " ORDER BY c.deleted, c.sortKey DESC OFFSET @offset LIMIT @limit";
    queryOthers(order, keep - 1, most + 1, "", [], (others) => {
      if (others.length <= most) trim(others, most - 1);
      else findOldest();
    });
  }

  // Finds the oldest copies, to delete them first. If not all surplus copies can be deleted, those
  // that stay then adjoin the newest 200.
  function findOldest() {
    const order = " ORDER BY c.deleted DESC, c.sortKey OFFSET @offset LIMIT @limit";
    queryOthers(order, 0, most, "", [], (others) => trim(others, 0));
  }

  function queryOthers(order, offset, limit, continuation, found, next) {
    const query = {
      query: "SELECT c.id, c.creationDate, c.arrivalDate, c._self FROM c WHERE c.deleted = false AND c.id != @id" + order,
      parameters: [
        { name: "@id", value: written.id },
        { name: "@offset", value: offset },
        { name: "@limit", value: limit }
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
      if (options.continuation) queryOthers(order, offset, limit, options.continuation, others, next);
      else next(others);
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
    noteTrimmed(item, oldest);
    writeHorizon(item, () => remove(oldest));
  }

  // Notes the latest arrival of trimmed copies on a horizon. It returns whether it is a new one.
  function noteTrimmed(item, copies) {
    const dates = copies.map((copy) => copy.arrivalDate || "").concat(item.trimmedArrival || "");
    const latest = dates.sort()[dates.length - 1];
    const isNew = latest !== (item.trimmedArrival || "");
    if (isNew) item.trimmedArrival = latest;
    return isNew;
  }

  function touchHorizon() {
    writeHorizon(horizon || newHorizon(), () => {});
  }

  function newHorizon() {
    return { id: "horizon", type: "post", creationDate: "", postId: "" };
  }

  // Writes the horizon. If that is rejected, the trigger fails, even during a refill.
  function writeHorizon(item, next) {
    if (lastArrival) item.lastArrival = lastArrival;
    if (horizon) {
      if (!collection.replaceDocument(horizon._self, item, { etag: horizon._etag }, onWritten)) throw timeUsedUp();
    } else {
      if (!collection.createDocument(collection.getSelfLink(), item, { disableAutomaticIdGeneration: true }, onWritten)) throw timeUsedUp();
    }

    function onWritten(err) {
      if (err) fail(err);
      next();
    }
  }

  // Deletes the copies below a horizon that was just written. Copies that a refill restored and
  // that are still below the horizon are not needed. Each run deletes a limited number, to leave
  // throughput to others.
  function findBelow(continuation) {
    const query = {
      query: "SELECT c.id, c.arrivalDate, c._self FROM c WHERE c.deleted = false AND c.sortKey <= @horizon",
      parameters: [{ name: "@horizon", value: horizon.creationDate + "/" + horizon.postId }]
    };
    const options = { pageSize: most };
    if (continuation) options.continuation = continuation;
    accepted(collection.queryDocuments(collection.getSelfLink(), query, options, onFound));

    function onFound(err, page, options) {
      if (err) fail(err);
      if (options.continuation && page.length === 0) {
        findBelow(options.continuation);
      } else {
        accepted(!options.continuation);
        if (noteTrimmed(horizon, page)) writeHorizon(horizon, () => remove(page));
        else remove(page);
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

  // A refill that ends with the oldest post of all has no date.
  function isRefilled(copy) {
    return horizon.refilling && isNewer(copy, { creationDate: horizon.refillDate || "", id: horizon.refillPostId || "" });
  }

  function isNewer(a, b) {
    return a.creationDate > b.creationDate || a.creationDate === b.creationDate && a.id > b.id;
  }

  function accepted(isAccepted) {
    if (!isAccepted && !(horizon && horizon.refilling)) throw timeUsedUp();
  }

  function timeUsedUp() {
    return new Error(429, "The time for this script is used up.");
  }

  function fail(err) {
    throw new Error(err.number, err.body || err.message);
  }
}
