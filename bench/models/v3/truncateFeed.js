// Keeps the 100 most recent posts in the feed. This post-trigger runs after each write of a copy. It
// is the article's truncateFeed, with a check of every request and one correction: the written copy
// may be the oldest, because an old post has a new comment. Then that copy is deleted, and no other.
function truncateFeed() {
  const keep = 100;
  const collection = getContext().getCollection();
  const written = getContext().getResponse().getBody();
  if (!written || typeof written !== "object") {
    throw new Error("The write did not ask for the written item, so the trigger cannot see it.");
  }

  // A query may or may not see the write that runs the trigger, so both exclude it.
  query("SELECT VALUE COUNT(1) FROM c WHERE c.id != @id", ([others]) => {
    const surplus = others + 1 - keep;
    if (surplus <= 0) return;
    query(`SELECT TOP ${surplus} * FROM c WHERE c.id != @id ORDER BY c.creationDate`, (oldest) => {
      remove(oldest.concat(written).sort(byDate).slice(0, oldest.length));
    });
  });

  function query(text, next) {
    const spec = { query: text, parameters: [{ name: "@id", value: written.id }] };
    accepted(collection.queryDocuments(collection.getSelfLink(), spec, (err, results) => {
      if (err) throw err;
      next(results);
    }));
  }

  function byDate(a, b) {
    return a.creationDate < b.creationDate ? -1 : 1;
  }

  function remove([copy, ...others]) {
    if (!copy) return;
    accepted(collection.deleteDocument(copy._self, err => {
      if (err) throw err;
      remove(others);
    }));
  }

  function accepted(isAccepted) {
    if (!isAccepted) throw new Error("The time for this script is used up.");
  }
}
