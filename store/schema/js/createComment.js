// Creates a comment, increments the post's comment count, and adds the comment to the post's recent
// comments if it is one of the newest three, all in one transaction. It returns the post. If the
// comment's id exists, the request is a repetition: the script returns the existing comment too, and
// writes nothing. If the deadline has passed, it writes nothing either.
//
// The comment is dated after all that were created for the post before, also deleted ones, whatever
// the clocks of their servers are and however long the request takes. So readers who follow the
// comments from a position miss none.
function createComment(args) {
  readPost(post => {
    const comment = args.comment;
    comment.creationDate = after(comment.creationDate, lastDate(post));
    comment.sortKey = comment.creationDate + "/" + comment.id;

    accepted(collection.createDocument(collection.getSelfLink(), comment, { disableAutomaticIdGeneration: true }, err => {
      if (err && err.number === 409) {
        accepted(collection.readDocument(items + comment.id, (err, existing) => {
          if (err) fail(err);
          const isTombstone = existing.type === "tombstone"; // deleted; authorId replaces userId at the end
          if (!isTombstone && existing.type !== "comment" || (existing.userId || existing.authorId) !== comment.userId ||
            (existing.inputHash || "") !== (comment.inputHash || "")) {
            response.setBody({ code: "KEY_REUSED" });
          } else if (isTombstone) {
            response.setBody({ code: "COMMENT_DELETED" });
          } else {
            delete post.content;
            response.setBody({ code: "OK", duplicate: true, comment: existing, post: post });
          }
        }));
        return;
      }
      if (err) fail(err);
      post.commentCount = count(post.commentCount) + 1;
      const recent = recentComments(post).concat(recentOf(comment));
      post.lastCommentDate = comment.creationDate;
      post.recentComments = recent.sort((a, b) => isNewer(a, b) ? -1 : 1).slice(0, maxRecent);
      post.revision = count(post.revision) + 1;

      write(post, replaced => {
        delete replaced.content;
        response.setBody({ code: "OK", post: replaced });
      });
    }));
  });

  // The date of the last comment, as far as the post knows it. It lacks lastCommentDate if no comment
  // was created by this script.
  function lastDate(post) {
    const recent = recentComments(post);
    const date = post.lastCommentDate || "";
    return recent.length > 0 && recent[0].creationDate > date ? recent[0].creationDate : date;
  }

  // Returns a date, or a microsecond after the last one if it is not later. Dates have the form
  // 2026-03-04T12:00:00.000000Z.
  function after(date, last) {
    if (date > last) return date;
    const micros = Number(last.slice(20, 26)) + 1;
    if (micros < 1000000) return last.slice(0, 20) + String(1000000 + micros).slice(1) + "Z";
    return new Date(Date.parse(last.slice(0, 19) + "Z") + 1000).toISOString().slice(0, 20) + "000000Z";
  }

  function isNewer(a, b) {
    return a.creationDate > b.creationDate || a.creationDate === b.creationDate && a.id > b.id;
  }
}
