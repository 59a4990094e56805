import { useQuery } from 'urql';
import { FeedDocument } from '../gql/graphql';
import { PostCard } from '../parts/PostCard';

// Feed lists the most recent posts.
export function Feed() {
  const [{ data, error, fetching }] = useQuery({ query: FeedDocument });
  const edges = data?.feed?.edges;
  return (
    <section aria-labelledby="feed" aria-busy={fetching}>
      <h1 id="feed">Recent posts</h1>
      {error && (
        <p className="fault" role="alert">
          {error.graphQLErrors[0]?.message ?? 'The server does not answer. Is it running?'}
        </p>
      )}
      {edges?.length === 0 && <p className="hint">No posts yet. Write the first one in GraphiQL.</p>}
      <ol className="cards">
        {edges?.map(({ node }) => (
          <li key={node.id}>
            <PostCard post={node} />
          </li>
        ))}
      </ol>
    </section>
  );
}
