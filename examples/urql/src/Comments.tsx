import { useMemo, useState } from "react";
import { useMutation, useQuery, useSubscription } from "urql";
import { name } from "./account";
import { Errors } from "./Errors";
import { CommentAddedDocument, CommentsDocument, CreateCommentDocument } from "./generated/gql/graphql";

// Comments shows the latest comments of a post. New ones appear on top: the cache adds them (client.ts).
export function Comments({ postId }: { postId: string }) {
  const [{ data, error }] = useQuery({ query: CommentsDocument, variables: { postId } });
  const isRead = Boolean(data?.post?.comments);
  // When they were read. A comment that was written here has no cursor.
  const newest = useMemo(() => data?.post?.comments?.edges.find(({ cursor }) => cursor)?.cursor ?? "", [isRead]);
  useSubscription({ query: CommentAddedDocument, variables: { postId, after: newest }, pause: !isRead });

  if (error) return <Errors error={error} />;
  if (!data) return <p>Loading …</p>;
  if (!data.post) return <p>This post was deleted.</p>;
  return (
    <section aria-label="Comments">
      {name && <NewComment postId={postId} />}
      {data.post.comments.edges.map(({ node }) => (
        <p key={node.id}>
          <b>{node.author.username}</b> {node.content}
        </p>
      ))}
    </section>
  );
}

function NewComment({ postId }: { postId: string }) {
  // With the same key, a comment that is sent again is created once.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const [{ error }, create] = useMutation(CreateCommentDocument);
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const content = String(new FormData(form).get("content"));
        const { error } = await create({ input: { postId, content, idempotencyKey } });
        if (error) return;
        form.reset();
        setKey(crypto.randomUUID());
      }}
    >
      <textarea name="content" aria-label="Your comment" />
      <button>Send</button>
      <Errors error={error} />
    </form>
  );
}
