import { useState } from "react";
import { useMutation, useQuery, useSubscription } from "urql";
import { name } from "./account";
import { Errors, errorsOf } from "./Errors";
import { CommentAddedDocument, CommentsDocument, CreateCommentDocument } from "./generated/gql/graphql";
import { useKey } from "./key";

// Comments shows the latest comments of a post. New ones appear on top: the cache adds them (client.ts).
export function Comments({ postId }: { postId: string }) {
  const [{ data, error }] = useQuery({ query: CommentsDocument, variables: { postId } });
  const [newest, setNewest] = useState<string>();
  const edges = data?.post?.comments?.edges;
  // When the comments were read. One that was written here has no cursor.
  if (newest === undefined && edges) setNewest(edges.find(({ cursor }) => cursor)?.cursor ?? "");
  const variables = { postId, after: newest ?? "" };
  useSubscription({ query: CommentAddedDocument, variables, pause: newest === undefined });

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
  const key = useKey();
  const [{ error, fetching }, create] = useMutation(CreateCommentDocument);
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const content = String(new FormData(form).get("content"));
        const { error } = await create({ input: { postId, content, idempotencyKey: key.of(content) } });
        if (!error || errorsOf(error).some(({ extensions }) => extensions?.code === "NOT_FOUND")) key.forget();
        if (!error && form.content.value === content) form.reset(); // the person may have typed on
      }}
    >
      <textarea name="content" aria-label="Your comment" />
      <button disabled={fetching}>Send</button>
      <Errors error={error} />
    </form>
  );
}
