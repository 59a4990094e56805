// Creates the reservation of a username, or replaces the one that the caller has read. If there is
// another reservation by now, or if the deadline has passed, the script writes nothing. Without the
// deadline, a request that arrives late could leave a reservation that nobody needs any more.
function reserveUsername(args) {
  const collection = getContext().getCollection();
  const response = getContext().getResponse();

  if (args.probe) { // probe: serve checks that the script exists
    response.setBody({ code: "OK" });
    return;
  }
  if (args.deadline && Date.now() > args.deadline) {
    response.setBody({ code: "TOO_LATE" });
    return;
  }
  // Copies only known arguments, so that nothing else enters the container.
  const reservation = { id: args.id, userId: args.userId, creationDate: args.creationDate };
  if (args.etag) {
    const link = collection.getAltLink() + "/docs/" + args.id;
    accepted(collection.replaceDocument(link, reservation, { etag: args.etag }, onWritten));
  } else {
    accepted(collection.createDocument(collection.getSelfLink(), reservation, { disableAutomaticIdGeneration: true }, onWritten));
  }

  function onWritten(err) {
    const changed = err && (err.number === 404 || err.number === 409 || err.number === 412);
    if (err && !changed) throw new Error(err.number, err.body || err.message);
    response.setBody({ code: changed ? "RESERVATION_CHANGED" : "OK" });
  }

  // Shortly before the time limit, operations are rejected and their callbacks never run. The
  // error then undoes all writes of the transaction.
  function accepted(isAccepted) {
    if (!isAccepted) throw new Error(429, "The time for this script is used up.");
  }
}
