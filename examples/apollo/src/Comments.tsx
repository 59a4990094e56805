import { useEffect } from "react";
import { useMutation, useQuery } from "@apollo/client/react";
import { name } from "./account";
import { Errors } from "./Errors";
import { errorsOf } from "./errors";
import {
  CommentAddedDocument,
  CommentsDocument,
  CreateCommentDocument,
  type CommentLineFragment,
  type CommentsQuery,
} from "./generated/gql/graphql";
import { useKey } from "./key";

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
  const key = useKey();
  const [create, { error, loading }] = useMutation(CreateCommentDocument, {
    update(cache, { data }) {
      if (!data) return;
      cache.updateQuery({ query: CommentsDocument, variables: { postId } }, (comments) =>
        comments && withComment(comments, data.createComment.comment, ""),
      );
    },
  });
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const content = String(new FormData(form).get("content"));
        const input = { postId, content, idempotencyKey: key.of(content) };
        try {
          await create({ variables: { input } });
          key.forget();
          if (form.content.value === content) form.reset(); // the person may have typed on
        } catch (error) {
          if (errorsOf(error as Error).some(({ extensions }) => extensions?.code === "NOT_FOUND")) key.forget();
        }
      }}
    >
      <textarea name="content" aria-label="Your comment" />
      <button disabled={loading}>Send</button>
      <Errors error={error} />
    </form>
  );
}
