import { useState, type ReactNode } from "react";
import { authExchange } from "@urql/exchange-auth";
import { cacheExchange, type Cache, type Entity } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { persistedExchange } from "@urql/exchange-persisted";
import { retryExchange } from "@urql/exchange-retry";
import { Client, fetchExchange, makeOperation, Provider, useMutation, useQuery, type CombinedError } from "urql";
import {
  CreateCommentDocument,
  CreatePostDocument,
  CreateUserDocument,
  DeletePostDocument,
  FeedDocument,
  LikePostDocument,
  PostDocument,
  TwoPostsDocument,
  UnlikePostDocument,
  UpdatePostDocument,
  type CreateCommentInput,
  type CreatePostInput,
  type CreateUserInput,
} from "./generated/gql/graphql";
import { persistedScenario, scenario } from "./scenario";
import { FeedView, Form, NoPost, PostView, TwoPostsView, type BlogError, type Connection, type Library } from "./views";

// errorsOf returns the errors of a result. Failures of the network become errors too.
function errorsOf(error: CombinedError | undefined): readonly BlogError[] {
  if (!error) return [];
  return error.graphQLErrors.length > 0 ? (error.graphQLErrors as readonly BlogError[]) : [error];
}

// remove removes an object and its edges in all pages of a list. If a list had an edge without its
// object, urql would request the list again, and the feed has a deleted post for a moment.
function remove(cache: Cache, object: Entity, parent: Entity, list: string) {
  for (const { fieldName, fieldKey } of cache.inspectFields(parent)) {
    if (fieldName !== list) continue;
    const page = cache.resolve(parent, fieldKey) as Entity;
    const edges = cache.resolve(page, "edges") as Entity[];
    cache.link(page, "edges", edges.filter((edge) => cache.resolve(edge, "node") !== cache.keyOfEntity(object)));
  }
  cache.invalidate(object);
}

// insert puts a new post before the first page of the feed.
function insert(cache: Cache, post: any) {
  for (const { fieldName, arguments: variables } of cache.inspectFields("Query")) {
    if (fieldName !== "feed" || variables?.after) continue;
    cache.updateQuery({ query: FeedDocument, variables: variables as any }, (data) => {
      const edges = data?.feed?.edges;
      if (edges && !edges.some(({ node }) => node.id === post.id)) {
        edges.unshift({ __typename: "PostEdge", cursor: "", node: post });
      }
      return data;
    });
  }
}

const cache = () =>
  cacheExchange({
    resolvers: {
      Query: { feed: relayPagination() },
      User: { posts: relayPagination() },
      Post: { comments: relayPagination(), likes: relayPagination() },
    },
    updates: {
      Mutation: {
        createPost(result, _, cache) {
          const post = (result as any).createPost?.post;
          if (post) insert(cache, post);
        },
        unlikePost(result, { input }: any, cache) {
          const id = (result as any).unlikePost?.unlikedLikeId;
          if (id) remove(cache, { __typename: "Like", id }, { __typename: "Post", id: input.postId }, "likes");
        },
        deletePost(result, _, cache) {
          const post = (result as any).deletePost?.post;
          if (post) remove(cache, post, "Query", "feed");
        },
      },
    },
  });

function connect({ url, fetch, token, renew, isPersisted }: Connection) {
  // Repeats an operation without an answer, and one for which the server asks for a wait. A mutation
  // without a key could happen twice.
  const retry = retryExchange({
    initialDelayMs: 100,
    maxNumberAttempts: 5,
    retryWith(error, operation) {
      if (operation.kind !== "query" && operation.variables?.input?.idempotencyKey === undefined) return null;
      const delay = errorsOf(error).find(({ extensions }) => extensions?.retryAfterMs)?.extensions!.retryAfterMs;
      if (!delay) return error.networkError ? operation : null;
      const { count } = operation.context.retry ?? { count: 0 };
      return makeOperation(operation.kind, operation, { ...operation.context, retry: { count, delay } });
    },
  });
  const auth = authExchange(async ({ appendHeaders }) => ({
    addAuthToOperation: (operation) =>
      token ? appendHeaders(operation, { Authorization: `Bearer ${token()}` }) : operation,
    didAuthError: (error) => errorsOf(error).some(({ extensions }) => extensions?.code === "UNAUTHENTICATED"),
    refreshAuth: async () => renew?.(),
  }));
  const client = new Client({
    url,
    fetch,
    preferGetMethod: false,
    exchanges: [cache(), retry, auth, ...(isPersisted ? [persistedExchange()] : []), fetchExchange],
  });
  return ({ children }: { children?: ReactNode }) => <Provider value={client}>{children}</Provider>;
}

const Feed: Library["Feed"] = ({ first }) => {
  const [after, setAfter] = useState<string>();
  const [{ data }] = useQuery({ query: FeedDocument, variables: { first, after } });
  if (!data?.feed) return null;
  const { edges, pageInfo } = data.feed;
  return (
    <FeedView
      posts={edges.map(({ node }) => node)}
      pageInfo={pageInfo}
      viewerId={data.viewer?.id}
      more={() => setAfter(pageInfo.endCursor ?? undefined)}
    />
  );
};

const Post: Library["Post"] = ({ id }) => {
  const [{ data }, refetch] = useQuery({ query: PostDocument, variables: { id } });
  const [, like] = useMutation(LikePostDocument);
  const [, unlike] = useMutation(UnlikePostDocument);
  const [, remove] = useMutation(DeletePostDocument);
  if (!data) return null;
  if (data.node?.__typename !== "Post") return <NoPost />;
  const post = data.node;
  return (
    <PostView
      post={post}
      likes={post.likes?.edges.map(({ node }) => node) ?? []}
      like={() => like({ input: { postId: id } })}
      unlike={() => unlike({ input: { postId: id } })}
      remove={() => remove({ input: { id } })}
      refresh={() => refetch({ requestPolicy: "network-only" })}
    />
  );
};

const SignUp: Library["SignUp"] = ({ idempotencyKey }) => {
  const [, create] = useMutation(CreateUserDocument);
  return (
    <Form
      title="Sign up"
      fields={["username"]}
      submit={async (values) => errorsOf((await create({ input: { ...values, idempotencyKey } as CreateUserInput })).error)}
    />
  );
};

const NewPost: Library["NewPost"] = ({ idempotencyKey }) => {
  const [, create] = useMutation(CreatePostDocument);
  return (
    <Form
      title="New post"
      fields={["title", "content"]}
      submit={async (values) => errorsOf((await create({ input: { ...values, idempotencyKey } as CreatePostInput })).error)}
    />
  );
};

const NewComment: Library["NewComment"] = ({ postId }) => {
  const [, create] = useMutation(CreateCommentDocument);
  return (
    <Form
      title="New comment"
      fields={["content"]}
      submit={async (values) => errorsOf((await create({ input: { ...values, postId } as CreateCommentInput })).error)}
    />
  );
};

const EditPost: Library["EditPost"] = ({ id, version }) => {
  const [, update] = useMutation(UpdatePostDocument);
  return (
    <Form
      title="Edit post"
      fields={["title", "content"]}
      submit={async (values) => errorsOf((await update({ input: { ...values, id, version } })).error)}
    />
  );
};

const TwoPosts: Library["TwoPosts"] = ({ titles }) => {
  const [, create] = useMutation(TwoPostsDocument);
  const [first, second] = titles.map((title) => ({ title, content: "One of two." }));
  return (
    <TwoPostsView
      send={async () => {
        const { data, error } = await create({ first: first!, second: second! });
        return { posts: [data?.first?.post?.title, data?.second?.post?.title], errors: errorsOf(error) };
      }}
    />
  );
};

const urql: Library = {
  name: "urql",
  connect,
  Feed,
  Post,
  SignUp,
  NewPost,
  NewComment,
  EditPost,
  TwoPosts,
};
scenario(urql);
persistedScenario(urql);
