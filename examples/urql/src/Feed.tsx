import { useState } from "react";
import { useClient, useMutation, useQuery, useSubscription, type CombinedError } from "urql";
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

// Feed shows the feed, a page at a time. New posts appear on top: the cache adds them (client.ts).
export function Feed({ open }: { open: (postId: string) => void }) {
  const client = useClient();
  const [{ data, error }] = useQuery({ query: FeedDocument });
  const [pageError, setPageError] = useState<CombinedError>();
  const [newest, setNewest] = useState<string>();
  if (newest === undefined && data?.feed) setNewest(data.feed.edges[0]?.cursor ?? ""); // when the feed was read
  useSubscription({ query: PostPublishedDocument, variables: { after: newest }, pause: newest === undefined });

  if (!data?.feed) return error ? <Errors error={error} /> : <p>Loading …</p>;
  const { edges, pageInfo } = data.feed;
  const more = async () => setPageError((await client.query(FeedDocument, { after: pageInfo.endCursor })).error);
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
  const [{ error }, like] = useMutation(post.viewerHasLiked ? UnlikePostDocument : LikePostDocument);
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
      <Errors error={error} />
    </article>
  );
}
