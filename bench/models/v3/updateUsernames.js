// Writes a user's new username to all items of the user in one partition of posts: the article's
// updateUsernames, with a check of every request.
function updateUsernames(user) {
  const collection = getContext().getCollection();
  const query = {
    query: "SELECT * FROM c WHERE c.userId = @userId",
    parameters: [{ name: "@userId", value: user.id }]
  };
  accepted(collection.queryDocuments(collection.getSelfLink(), query, (err, items) => {
    if (err) throw err;
    for (const item of items) {
      item.userUsername = user.username;
      accepted(collection.replaceDocument(item._self, item, { etag: item._etag }, err => {
        if (err) throw err;
      }));
    }
    getContext().getResponse().setBody(items.length);
  }));

  function accepted(isAccepted) {
    if (!isAccepted) throw new Error("The time for this script is used up.");
  }
}
