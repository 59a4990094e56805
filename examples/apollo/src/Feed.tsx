import { useEffect, useState } from "react";
import { useMutation, useQuery } from "@apollo/client/react";
import { name } from "./account";
import { Errors } from "./Errors";
import {
  FeedDocument,
  LikePostDocument,
  PostPublishedDocument,
  UnlikePostDocument,
  type PostCardFragment,
} from "./generated/gql/graphql";
import { Join } from "./Join";

// Feed shows the feed, a page at a time. New posts appear on top.
export function Feed({ open }: { open: (postId: string) => void }) {
  const { data, error, loading, fetchMore, subscribeToMore } = useQuery(FeedDocument);
  const [pageError, setPageError] = useState<Error>();
  const isRead = data !== undefined;
  useEffect(() => {
    if (!isRead) return;
    return subscribeToMore({
      document: PostPublishedDocument,
      variables: { after: data.feed.edges[0]?.cursor ?? "" },
      updateQuery(_, { complete, previousData: feed, subscriptionData }) {
        if (!complete) return undefined;
        const { edges } = feed.feed;
        const edge = subscriptionData.data.postPublished;
        if (edges.some(({ node }) => node.id === edge.node.id)) return feed;
        return { ...feed, feed: { ...feed.feed, edges: [edge, ...edges] } };
      },
    });
  }, [isRead, subscribeToMore]);

  if (!data) return loading ? <p>Loading …</p> : <Errors error={error} />;
  const { edges, pageInfo } = data.feed;
  const more = () => fetchMore({ variables: { after: pageInfo.endCursor } }).then(() => setPageError(undefined), setPageError);
  return (
    <section aria-label="Posts">
      {name && !data.viewer && <Join />}
      {edges.map(({ node }) => (
        <PostCard key={node.id} post={node} canLike={data.viewer !== null} open={open} />
      ))}
      {edges.length === 0 && <p>There are no posts yet.</p>}
      <Errors error={pageError} />
      {pageInfo.hasNextPage && <button onClick={more}>More</button>}
    </section>
  );
}

function PostCard({ post, canLike, open }: { post: PostCardFragment; canLike: boolean; open: (id: string) => void }) {
  const [like, { error }] = useMutation(post.viewerHasLiked ? UnlikePostDocument : LikePostDocument, {
    variables: { id: post.id },
  });
  return (
    <article>
      <h2>
        <button onClick={() => open(post.id)}>{post.title}</button>
      </h2>
      <p>{post.excerpt}</p>
      <footer>
        {post.author.username}, {new Date(post.creationDate).toLocaleDateString()}, {post.commentCount} comments
        <button aria-pressed={post.viewerHasLiked} disabled={!canLike} onClick={() => like().catch(() => {})}>
          ♥ {post.likeCount}
        </button>
      </footer>
      <Errors error={error} />
    </article>
  );
}
