import { useEffect, useState } from "react";
import { useMutation, useQuery } from "@apollo/client/react";
import { name } from "./account";
import { Errors } from "./Errors";
import {
  CommentAddedDocument,
  CommentsDocument,
  CreateCommentDocument,
  type CommentLineFragment,
  type CommentsQuery,
} from "./generated/gql/graphql";

// Comments shows the latest comments of a post. New ones appear on top.
export function Comments({ postId }: { postId: string }) {
  const { data, error, loading, subscribeToMore } = useQuery(CommentsDocument, { variables: { postId } });
  const isRead = Boolean(data?.post);
  useEffect(() => {
    if (!isRead) return;
    return subscribeToMore({
      document: CommentAddedDocument,
      // A comment that was written here has no cursor.
      variables: { postId, after: data?.post?.comments.edges.find(({ cursor }) => cursor)?.cursor ?? "" },
      updateQuery(_, { complete, previousData, subscriptionData }) {
        if (!complete) return undefined;
        const { cursor, node } = subscriptionData.data.commentAdded;
        return withComment(previousData, node, cursor);
      },
    });
  }, [postId, isRead, subscribeToMore]);

  if (!data) return loading ? <p>Loading …</p> : <Errors error={error} />;
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

// withComment returns the comments of a post with a new one. The answer of the mutation and the
// subscription both bring it, and it is added once.
function withComment(data: CommentsQuery, node: CommentLineFragment, cursor: string): CommentsQuery {
  const { post } = data;
  if (!post || post.comments.edges.some((edge) => edge.node.id === node.id)) return data;
  const edge = { __typename: "CommentEdge" as const, cursor, node };
  return { ...data, post: { ...post, comments: { ...post.comments, edges: [edge, ...post.comments.edges] } } };
}

function NewComment({ postId }: { postId: string }) {
  // With the same key, a comment that is sent again is created once.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const [create, { error }] = useMutation(CreateCommentDocument, {
    update(cache, { data }) {
      if (!data) return;
      cache.updateQuery({ query: CommentsDocument, variables: { postId } }, (comments) =>
        comments && withComment(comments, data.createComment.comment, ""),
      );
    },
    onCompleted: () => setKey(crypto.randomUUID()),
  });
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const content = String(new FormData(form).get("content"));
        const isSent = await create({ variables: { input: { postId, content, idempotencyKey } } }).catch(() => false);
        if (isSent) form.reset();
      }}
    >
      <textarea name="content" aria-label="Your comment" />
      <button>Send</button>
      <Errors error={error} />
    </form>
  );
}
