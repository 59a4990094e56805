import { useEffect } from "react";
import { graphql, useFragment, useLazyLoadQuery, useRelayEnvironment } from "react-relay";
import { requestSubscription } from "relay-runtime";
import { name } from "./account";
import { useCommand } from "./command";
import { Errors } from "./Errors";
import type { Comments_comment$key } from "./generated/relay/Comments_comment.graphql";
import type { CommentsAddedSubscription } from "./generated/relay/CommentsAddedSubscription.graphql";
import type { CommentsCreateMutation } from "./generated/relay/CommentsCreateMutation.graphql";
import type { CommentsQuery } from "./generated/relay/CommentsQuery.graphql";
import { useKey } from "./key";
import { Reading, type Options } from "./Reading";

type Props = { postId: string };

// Comments shows the latest comments of a post. New ones appear on top.
export const Comments = ({ postId }: Props) => (
  <Reading>{(options) => <Latest postId={postId} options={options} />}</Reading>
);

function Latest({ postId, options }: Props & { options: Options }) {
  const { post } = useLazyLoadQuery<CommentsQuery>(
    graphql`
      query CommentsQuery($postId: ID!) @throwOnFieldError {
        post(id: $postId) {
          comments(first: 20, order: NEWEST_FIRST) @connection(key: "Comments_comments") {
            __id
            edges {
              cursor
              node {
                id
                ...Comments_comment
              }
            }
          }
        }
      }
    `,
    { postId },
    options,
  );
  const list = post?.comments.__id;
  const environment = useRelayEnvironment();
  useEffect(() => {
    if (!list) return;
    const { dispose } = requestSubscription<CommentsAddedSubscription>(environment, {
      subscription: graphql`
        subscription CommentsAddedSubscription($postId: ID!, $after: String!, $connections: [ID!]!) {
          commentAdded(postId: $postId, after: $after) @prependEdge(connections: $connections) {
            cursor
            node {
              ...Comments_comment
              post {
                id
                commentCount
              }
            }
          }
        }
      `,
      // A comment that was written here has no cursor.
      variables: { postId, after: post.comments.edges.find(({ cursor }) => cursor)?.cursor ?? "", connections: [list] },
      onError: console.error,
    });
    return dispose;
  }, [environment, postId, list]);

  if (!post) return <p>This post was deleted.</p>;
  return (
    <section aria-label="Comments">
      {name && <NewComment postId={postId} list={post.comments.__id} />}
      {post.comments.edges.map(({ node }) => (
        <Comment key={node.id} comment={node} />
      ))}
    </section>
  );
}

function Comment({ comment }: { comment: Comments_comment$key }) {
  const { author, content } = useFragment(
    graphql`
      fragment Comments_comment on Comment @throwOnFieldError {
        id
        content
        author {
          id
          username
        }
      }
    `,
    comment,
  );
  return (
    <p>
      <b>{author.username}</b> {content}
    </p>
  );
}

function NewComment({ postId, list }: Props & { list: string }) {
  const key = useKey();
  // The answer and the subscription both bring the comment. Relay adds it once.
  const [create, errors, isSending] = useCommand<CommentsCreateMutation>(graphql`
    mutation CommentsCreateMutation($input: CreateCommentInput!, $connections: [ID!]!) {
      createComment(input: $input) {
        comment @prependNode(connections: $connections, edgeTypeName: "CommentEdge") {
          ...Comments_comment
        }
        post {
          id
          commentCount
        }
      }
    }
  `);
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const content = String(new FormData(form).get("content"));
        const errors = await create({ input: { postId, content, idempotencyKey: key.of(content) }, connections: [list] });
        if (errors.length === 0 || errors.some(({ extensions }) => extensions?.code === "NOT_FOUND")) key.forget();
        if (errors.length === 0 && form.content.value === content) form.reset(); // the person may have typed on
      }}
    >
      <textarea name="content" aria-label="Your comment" />
      <button disabled={isSending}>Send</button>
      <Errors errors={errors} />
    </form>
  );
}
