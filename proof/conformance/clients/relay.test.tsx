import { startTransition, Suspense, type ReactNode } from "react";
import {
  graphql,
  RelayEnvironmentProvider,
  useLazyLoadQuery,
  useMutation,
  usePaginationFragment,
  useRefetchableFragment,
  useRelayEnvironment,
} from "react-relay";
import {
  ConnectionHandler,
  Environment,
  Network,
  readInlineData,
  RecordSource,
  ROOT_ID,
  Store,
  type FetchFunction,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  type MutationParameters,
} from "relay-runtime";
import type { relayCreateCommentMutation } from "./generated/relay/relayCreateCommentMutation.graphql";
import type { relayCreatePostMutation } from "./generated/relay/relayCreatePostMutation.graphql";
import type { relayCreateUserMutation } from "./generated/relay/relayCreateUserMutation.graphql";
import type { relayDeletePostMutation } from "./generated/relay/relayDeletePostMutation.graphql";
import type { relayFeed_query$key } from "./generated/relay/relayFeed_query.graphql";
import type { relayFeedPaginationQuery } from "./generated/relay/relayFeedPaginationQuery.graphql";
import type { relayFeedQuery } from "./generated/relay/relayFeedQuery.graphql";
import type { relayLikePostMutation } from "./generated/relay/relayLikePostMutation.graphql";
import type { relayPost_post$key } from "./generated/relay/relayPost_post.graphql";
import type { relayPostCard_post$key } from "./generated/relay/relayPostCard_post.graphql";
import type { relayPostQuery } from "./generated/relay/relayPostQuery.graphql";
import type { relayPostRefetchQuery } from "./generated/relay/relayPostRefetchQuery.graphql";
import type { relayTwoPostsMutation } from "./generated/relay/relayTwoPostsMutation.graphql";
import type { relayUnlikePostMutation } from "./generated/relay/relayUnlikePostMutation.graphql";
import type { relayUpdatePostMutation } from "./generated/relay/relayUpdatePostMutation.graphql";
import { scenario } from "./scenario";
import { FeedView, Form, NoPost, PostView, TwoPostsView, type BlogError, type Connection, type Library } from "./views";

// network sends operations. It repeats one with an invalid token, one without an answer, and one for
// which the server asks for a wait.
function network({ url, fetch = globalThis.fetch, token, renew }: Connection): FetchFunction {
  const send = async (query: string | null | undefined, variables: object): Promise<GraphQLResponse> => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        Accept: "application/graphql-response+json, application/json",
        "Content-Type": "application/json",
        ...(token && { Authorization: `Bearer ${token()}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as GraphQLResponse;
  };
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  return async ({ text, operationKind }, variables) => {
    // A mutation without a key could happen twice.
    const isRepeatable = operationKind === "query" || variables.input?.idempotencyKey !== undefined;
    for (let tries = 1; ; tries++) {
      const isLast = !isRepeatable || tries === 5;
      let answer;
      try {
        answer = await send(text, variables);
      } catch (error) {
        if (isLast) throw error;
        await sleep(100 * tries);
        continue;
      }
      const errors: readonly BlogError[] = ("errors" in answer && answer.errors) || [];
      const waitMs = Math.max(0, ...errors.map(({ extensions }) => extensions?.retryAfterMs ?? 0));
      if (tries === 1 && renew && errors.some(({ extensions }) => extensions?.code === "UNAUTHENTICATED")) {
        await renew();
      } else if (waitMs > 0 && !isLast) {
        await sleep(waitMs);
      } else {
        return answer;
      }
    }
  };
}

function connect(connection: Connection) {
  const environment = new Environment({
    network: Network.create(network(connection)),
    store: new Store(new RecordSource()),
  });
  return ({ children }: { children?: ReactNode }) => (
    <RelayEnvironmentProvider environment={environment}>
      <Suspense>{children}</Suspense>
    </RelayEnvironmentProvider>
  );
}

// useCommand returns a function that commits a mutation. It returns the data, and the errors of
// the answer. Relay reports an answer without data as an Error whose `source` is the answer.
function useCommand<Mutation extends MutationParameters>(mutation: GraphQLTaggedNode) {
  const [commit] = useMutation<Mutation>(mutation);
  return (variables: Mutation["variables"]) =>
    new Promise<{ data?: Mutation["response"]; errors: readonly BlogError[] }>((resolve) => {
      commit({
        variables,
        onCompleted: (data, errors) => resolve({ data, errors: (errors ?? []) as readonly BlogError[] }),
        onError: (error) => resolve({ errors: (error as any).source?.errors ?? [error] }),
      });
    });
}

const postCard = graphql`
  fragment relayPostCard_post on Post @inline {
    id
    title
    likeCount
    viewerHasLiked
    author {
      id
      username
      postCount
    }
  }
`;


const Feed: Library["Feed"] = ({ first }) => {
  const query = useLazyLoadQuery<relayFeedQuery>(
    graphql`
      query relayFeedQuery($first: Int!) {
        viewer {
          id
        }
        ...relayFeed_query @arguments(first: $first)
      }
    `,
    { first },
  );
  const { data, loadNext } = usePaginationFragment<relayFeedPaginationQuery, relayFeed_query$key>(
    graphql`
      fragment relayFeed_query on Query
      @argumentDefinitions(first: { type: "Int!" }, after: { type: "String" })
      @refetchable(queryName: "relayFeedPaginationQuery") {
        feed(first: $first, after: $after) @connection(key: "Feed_feed") {
          edges {
            node {
              id
              ...relayPostCard_post
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `,
    query,
  );
  if (!data.feed) return null;
  // A deleted record is null in the edges of its connections.
  const posts = data.feed.edges.map(({ node }) => node).filter(Boolean);
  return (
    <FeedView
      posts={posts.map((post) => readInlineData<relayPostCard_post$key>(postCard, post))}
      pageInfo={data.feed.pageInfo}
      viewerId={query.viewer?.id}
      more={() => loadNext(first)}
    />
  );
};

const Post: Library["Post"] = ({ id }) => {
  const { node } = useLazyLoadQuery<relayPostQuery>(
    graphql`
      query relayPostQuery($id: ID!) {
        node(id: $id) {
          ...relayPost_post @alias(as: "post")
        }
      }
    `,
    { id },
  );
  return node?.post ? <FoundPost id={id} post={node.post} /> : <NoPost />;
};

function FoundPost({ id, post }: { id: string; post: relayPost_post$key }) {
  const [data, refetch] = useRefetchableFragment<relayPostRefetchQuery, relayPost_post$key>(
    graphql`
      fragment relayPost_post on Post
      @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" })
      @refetchable(queryName: "relayPostRefetchQuery") {
        ...relayPostCard_post
        version
        likes(first: $first, after: $after) @connection(key: "Post_likes") {
          __id
          edges {
            node {
              id
              user {
                username
              }
            }
          }
        }
      }
    `,
    post,
  );
  const like = useCommand<relayLikePostMutation>(graphql`
    mutation relayLikePostMutation($input: LikePostInput!, $connections: [ID!]!) {
      likePost(input: $input) {
        like @prependNode(connections: $connections, edgeTypeName: "LikeEdge") {
          id
          user {
            username
          }
        }
        post {
          likeCount
          viewerHasLiked
        }
      }
    }
  `);
  const unlike = useCommand<relayUnlikePostMutation>(graphql`
    mutation relayUnlikePostMutation($input: UnlikePostInput!, $connections: [ID!]!) {
      unlikePost(input: $input) {
        unlikedLikeId @deleteEdge(connections: $connections)
        post {
          likeCount
          viewerHasLiked
        }
      }
    }
  `);
  const remove = useCommand<relayDeletePostMutation>(graphql`
    mutation relayDeletePostMutation($input: DeletePostInput!) {
      deletePost(input: $input) {
        post {
          id @deleteRecord
        }
      }
    }
  `);
  if (!data?.likes) return null;
  const { __id, edges } = data.likes;
  const variables = { input: { postId: id }, connections: [__id] };
  return (
    <PostView
      post={{ ...readInlineData<relayPostCard_post$key>(postCard, data), version: data.version }}
      likes={edges.map(({ node }) => node)}
      like={() => like(variables)}
      unlike={() => unlike(variables)}
      remove={() => remove({ input: { id } })}
      refresh={() => startTransition(() => void refetch({}, { fetchPolicy: "network-only" }))}
    />
  );
}

const SignUp: Library["SignUp"] = ({ idempotencyKey }) => {
  const create = useCommand<relayCreateUserMutation>(graphql`
    mutation relayCreateUserMutation($input: CreateUserInput!) {
      createUser(input: $input) {
        user {
          username
        }
      }
    }
  `);
  return (
    <Form
      title="Sign up"
      fields={["username"]}
      submit={async (values) => (await create({ input: { ...values, idempotencyKey } as any })).errors}
    />
  );
};

const NewPost: Library["NewPost"] = ({ idempotencyKey }) => {
  const source = useRelayEnvironment().getStore().getSource();
  const create = useCommand<relayCreatePostMutation>(graphql`
    mutation relayCreatePostMutation($input: CreatePostInput!, $connections: [ID!]!) {
      createPost(input: $input) {
        post @prependNode(connections: $connections, edgeTypeName: "PostEdge") {
          id
          ...relayPostCard_post
        }
      }
    }
  `);
  // Relay warns of connections that were not loaded.
  const connections = [ConnectionHandler.getConnectionID(ROOT_ID, "Feed_feed")].filter((id) => source.has(id));
  return (
    <Form
      title="New post"
      fields={["title", "content"]}
      submit={async (values) => (await create({ input: { ...values, idempotencyKey } as any, connections })).errors}
    />
  );
};

const NewComment: Library["NewComment"] = ({ postId }) => {
  const create = useCommand<relayCreateCommentMutation>(graphql`
    mutation relayCreateCommentMutation($input: CreateCommentInput!) {
      createComment(input: $input) {
        comment {
          id
        }
        post {
          commentCount
        }
      }
    }
  `);
  return (
    <Form
      title="New comment"
      fields={["content"]}
      submit={async (values) => (await create({ input: { ...values, postId } as any })).errors}
    />
  );
};

const EditPost: Library["EditPost"] = ({ id, version }) => {
  const update = useCommand<relayUpdatePostMutation>(graphql`
    mutation relayUpdatePostMutation($input: UpdatePostInput!) {
      updatePost(input: $input) {
        post {
          title
          version
        }
      }
    }
  `);
  return (
    <Form
      title="Edit post"
      fields={["title", "content"]}
      submit={async (values) => (await update({ input: { ...values, id, version } })).errors}
    />
  );
};

const TwoPosts: Library["TwoPosts"] = ({ titles }) => {
  const create = useCommand<relayTwoPostsMutation>(graphql`
    mutation relayTwoPostsMutation($first: CreatePostInput!, $second: CreatePostInput!) {
      first: createPost(input: $first) {
        post {
          title
        }
      }
      second: createPost(input: $second) {
        post {
          title
        }
      }
    }
  `);
  const [first, second] = titles.map((title) => ({ title, content: "One of two." }));
  return (
    <TwoPostsView
      send={async () => {
        const { data, errors } = await create({ first: first!, second: second! });
        return { posts: [data?.first?.post?.title, data?.second?.post?.title], errors };
      }}
    />
  );
};

scenario({ name: "Relay", connect, Feed, Post, SignUp, NewPost, NewComment, EditPost, TwoPosts });
