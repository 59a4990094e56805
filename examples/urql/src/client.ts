import { cacheExchange, type Cache } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { persistedExchange } from "@urql/exchange-persisted";
import { Client, fetchExchange, subscriptionExchange } from "urql";
import {
  CommentsDocument,
  FeedDocument,
  type CommentAddedSubscription,
  type CommentLineFragment,
  type CreateCommentMutation,
  type CreateUserMutation,
  type PostPublishedSubscription,
} from "./generated/gql/graphql";
import { live } from "./live";
import { send } from "./send";
import { url } from "./url";

const embedded = () => null; // has no id, and belongs to the object around it

// The updates run for answers with errors too. What failed is null in them, whatever its type says.
const cache = cacheExchange({
  keys: {
    PostConnection: embedded,
    PostEdge: embedded,
    CommentConnection: embedded,
    CommentEdge: embedded,
    LikeConnection: embedded,
    LikeEdge: embedded,
    PageInfo: embedded,
    Tag: ({ name }) => name as string,
    ArchiveMonth: ({ month }) => month as string,
  },
  resolvers: {
    Query: { feed: relayPagination() },
    User: { posts: relayPagination() },
    Post: { comments: relayPagination(), likes: relayPagination() },
  },
  updates: {
    Mutation: {
      createUser(result: CreateUserMutation, _, cache) {
        const user = result.createUser?.user; // before, the viewer was null
        if (user) cache.link("Query", "viewer", user);
      },
      createComment(result: CreateCommentMutation, _, cache) {
        const { comment, post } = result.createComment ?? {};
        if (comment && post) addComment(cache, post.id, comment, "");
      },
    },
    Subscription: {
      postPublished(result: PostPublishedSubscription, _, cache) {
        const edge = result.postPublished;
        if (edge) addPost(cache, edge);
      },
      commentAdded(result: CommentAddedSubscription, { postId }, cache) {
        const edge = result.commentAdded;
        if (edge) addComment(cache, postId as string, edge.node, edge.cursor);
      },
    },
  },
});

// addPost puts a new post before the first page of the feed, unless it is there.
function addPost(cache: Cache, edge: PostPublishedSubscription["postPublished"]) {
  cache.updateQuery({ query: FeedDocument }, (data) => {
    const edges = data?.feed?.edges;
    if (edges && !edges.some(({ node }) => node.id === edge.node.id)) edges.unshift(edge);
    return data;
  });
}

// addComment puts a new comment before those of its post. The answer of the mutation and the
// subscription both bring it, and it is added once.
function addComment(cache: Cache, postId: string, node: CommentLineFragment, cursor: string) {
  cache.updateQuery({ query: CommentsDocument, variables: { postId } }, (data) => {
    const edges = data?.post?.comments?.edges;
    if (edges && !edges.some((edge) => edge.node.id === node.id)) {
      edges.unshift({ __typename: "CommentEdge", cursor, node });
    }
    return data;
  });
}

// persisted sends the hash of a document, which codegen.ts has put into it, in place of its text.
const persisted = persistedExchange({
  generateHash: async (_, document: any) => document.__meta__.hash.replace("sha256:", ""),
  preferGetForPersistedQueries: true,
  enforcePersistedQueries: true,
  enableForMutation: true,
  enableForSubscriptions: true,
});

const subscriptions = subscriptionExchange({
  forwardSubscription: (payload) => ({
    subscribe: (sink) => ({ unsubscribe: live.subscribe(payload as { query: string }, sink) }),
  }),
});

export const client = new Client({
  url,
  fetch: send,
  preferGetMethod: false,
  // The order matters. A server with the documents of a build has them all (--documents).
  exchanges: [cache, ...(import.meta.env.VITE_PERSISTED ? [persisted] : []), subscriptions, fetchExchange],
});
