import { useEffect, useState } from "react";
import { graphql, useFragment, useLazyLoadQuery, usePaginationFragment, useRelayEnvironment } from "react-relay";
import { requestSubscription } from "relay-runtime";
import { name } from "./account";
import { useCommand } from "./command";
import { Errors } from "./Errors";
import { errorsOf } from "./errors";
import type { Feed_post$key } from "./generated/relay/Feed_post.graphql";
import type { Feed_query$key } from "./generated/relay/Feed_query.graphql";
import type { FeedLikeMutation } from "./generated/relay/FeedLikeMutation.graphql";
import type { FeedPageQuery } from "./generated/relay/FeedPageQuery.graphql";
import type { FeedPublishedSubscription } from "./generated/relay/FeedPublishedSubscription.graphql";
import type { FeedQuery } from "./generated/relay/FeedQuery.graphql";
import type { FeedUnlikeMutation } from "./generated/relay/FeedUnlikeMutation.graphql";
import { Join } from "./Join";
import { Reading, type Options } from "./Reading";

type Props = { open: (postId: string) => void };

// Feed shows the feed, a page at a time. New posts appear on top.
export const Feed = ({ open }: Props) => <Reading>{(options) => <Posts open={open} options={options} />}</Reading>;

function Posts({ open, options }: Props & { options: Options }) {
  const query = useLazyLoadQuery<FeedQuery>(
    graphql`
      query FeedQuery @throwOnFieldError {
        viewer {
          id
          username
        }
        ...Feed_query
      }
    `,
    {},
    options,
  );
  const { data, hasNext, loadNext } = usePaginationFragment<FeedPageQuery, Feed_query$key>(
    graphql`
      fragment Feed_query on Query
      @argumentDefinitions(first: { type: "Int", defaultValue: 10 }, after: { type: "String" })
      @refetchable(queryName: "FeedPageQuery")
      @throwOnFieldError {
        feed(first: $first, after: $after) @connection(key: "Feed_feed") {
          __id
          edges {
            cursor
            node {
              id
              ...Feed_post
            }
          }
        }
      }
    `,
    query,
  );
  const [error, setError] = useState<Error | null>(null);
  const { __id, edges } = data.feed;

  const environment = useRelayEnvironment();
  useEffect(() => {
    const { dispose } = requestSubscription<FeedPublishedSubscription>(environment, {
      subscription: graphql`
        subscription FeedPublishedSubscription($after: String, $connections: [ID!]!) {
          postPublished(after: $after) @prependEdge(connections: $connections) {
            cursor
            node {
              ...Feed_post
            }
          }
        }
      `,
      variables: { after: edges[0]?.cursor ?? "", connections: [__id] },
      onError: console.error,
    });
    return dispose;
  }, [environment, __id]);

  return (
    <section aria-label="Posts">
      {name && !query.viewer && <Join />}
      {edges.map(({ node }) => (
        <PostCard key={node.id} post={node} canLike={query.viewer !== null} open={open} />
      ))}
      {edges.length === 0 && <p>There are no posts yet.</p>}
      {error && <Errors errors={errorsOf(error)} />}
      {hasNext && <button onClick={() => loadNext(10, { onComplete: setError })}>More</button>}
    </section>
  );
}

function PostCard({ post: key, canLike, open }: Props & { post: Feed_post$key; canLike: boolean }) {
  const post = useFragment(
    graphql`
      fragment Feed_post on Post @throwOnFieldError {
        id
        title
        excerpt
        creationDate
        commentCount
        likeCount
        viewerHasLiked
        author {
          id
          username
        }
      }
    `,
    key,
  );
  const [like, errors] = useCommand<FeedLikeMutation | FeedUnlikeMutation>(
    post.viewerHasLiked
      ? graphql`
          mutation FeedUnlikeMutation($id: ID!) {
            unlikePost(input: { postId: $id }) {
              post {
                id
                likeCount
                viewerHasLiked
              }
            }
          }
        `
      : graphql`
          mutation FeedLikeMutation($id: ID!) {
            likePost(input: { postId: $id }) {
              post {
                id
                likeCount
                viewerHasLiked
              }
            }
          }
        `,
  );
  return (
    <article>
      <h2>
        <button onClick={() => open(post.id)}>{post.title}</button>
      </h2>
      <p>{post.excerpt}</p>
      <footer>
        {post.author.username}, {new Date(post.creationDate).toLocaleDateString()}, {post.commentCount} comments
        <button aria-pressed={post.viewerHasLiked} disabled={!canLike} onClick={() => like({ id: post.id })}>
          ♥ {post.likeCount}
        </button>
      </footer>
      <Errors errors={errors} />
    </article>
  );
}
