import { Client, fetchExchange } from 'urql';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';

// newClient returns a client of the API with an empty cache. A page that signs in or out makes a
// new one, because the cache holds what the viewer could see.
export function newClient(): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers: { accept: 'application/graphql-response+json, application/json;q=0.9' } },
    exchanges: [newCache(), fetchExchange],
  });
}

// newCache returns a normalised cache. Connections, edges and pages have no id: they belong to the
// object around them.
function newCache() {
  const embedded = () => null;
  return cacheExchange({
    keys: {
      PostConnection: embedded,
      PostEdge: embedded,
      CommentConnection: embedded,
      CommentEdge: embedded,
      LikeConnection: embedded,
      LikeEdge: embedded,
      PageInfo: embedded,
    },
    resolvers: {
      Query: { feed: relayPagination() },
      User: { posts: relayPagination() },
      Post: { comments: relayPagination(), likes: relayPagination() },
    },
  });
}
