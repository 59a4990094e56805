// Creates the reservation of a username, or replaces the one that the caller has read. If there is
// another reservation by now, or if the deadline has passed, the script writes nothing. Without the
// deadline, a request that arrives late could leave a reservation that nobody needs any more.
function reserveUsername(args) {
  // Copies only known arguments, so that nothing else enters the container.
  const reservation = { id: args.id, userId: args.userId, creationDate: args.creationDate };
  if (args.etag) {
    accepted(collection.replaceDocument(items + args.id, reservation, { etag: args.etag }, onWritten));
  } else {
    accepted(collection.createDocument(collection.getSelfLink(), reservation, { disableAutomaticIdGeneration: true }, onWritten));
  }

  function onWritten(err) {
    const changed = err && (err.number === 404 || err.number === 409 || err.number === 412);
    if (err && !changed) fail(err);
    response.setBody({ code: changed ? "RESERVATION_CHANGED" : "OK" });
  }
}
