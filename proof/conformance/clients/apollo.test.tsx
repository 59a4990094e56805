import { createHash } from "node:crypto";
import type { ReactNode } from "react";
import { from, mergeMap, timer } from "rxjs";
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { ErrorLink } from "@apollo/client/link/error";
import { createPersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { RetryLink } from "@apollo/client/link/retry";
import { ApolloProvider, useMutation, useQuery } from "@apollo/client/react";
import { relayStylePagination } from "@apollo/client/utilities";
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

// The types of the default options below.
declare module "@apollo/client" {
  namespace ApolloClient {
    namespace DeclareDefaultOptions {
      interface WatchQuery {
        errorPolicy: "all";
      }
      interface Query {
        errorPolicy: "all";
      }
      interface Mutate {
        errorPolicy: "all";
      }
    }
  }
}

// errorsOf returns the errors of a result. Failures of the network become errors too.
function errorsOf(error: Error | undefined): readonly BlogError[] {
  if (CombinedGraphQLErrors.is(error)) return error.errors as readonly BlogError[];
  return error ? [error] : [];
}

function connect({ url, fetch, token, renew, isPersisted }: Connection) {
  // A mutation without a key could happen twice.
  const isRepeatable = ({ operationType, variables }: ApolloLink.Operation) =>
    operationType === "query" || variables.input?.idempotencyKey !== undefined;
  // Repeats an operation once if the token is not valid, or if the server asks for a wait.
  const errors = new ErrorLink(({ error, operation, forward }) => {
    for (const { extensions } of errorsOf(error)) {
      if (extensions?.code === "UNAUTHENTICATED" && renew) {
        return from(renew()).pipe(mergeMap(() => forward(operation)));
      }
      if (extensions?.retryAfterMs && isRepeatable(operation)) {
        return timer(extensions.retryAfterMs).pipe(mergeMap(() => forward(operation)));
      }
    }
  });
  // Repeats an operation without an answer.
  const lost = new RetryLink({
    delay: { initial: 100 },
    attempts: (count, operation) => count < 5 && isRepeatable(operation),
  });
  const signIn = new SetContextLink(({ headers }) => ({
    headers: { ...headers, ...(token && { Authorization: `Bearer ${token()}` }) },
  }));
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const cache = new InMemoryCache({
    typePolicies: {
      Query: { fields: { feed: relayStylePagination() } },
      User: { fields: { posts: relayStylePagination() } },
      Post: { fields: { comments: relayStylePagination(["order"]), likes: relayStylePagination() } },
    },
  });
  const client = new ApolloClient({
    link: ApolloLink.from([
      errors,
      lost,
      signIn,
      ...(isPersisted ? [createPersistedQueryLink({ sha256 })] : []),
      new HttpLink({ uri: url, fetch }),
    ]),
    cache,
    defaultOptions: { watchQuery: { errorPolicy: "all" }, query: { errorPolicy: "all" }, mutate: { errorPolicy: "all" } },
  });
  return ({ children }: { children?: ReactNode }) => <ApolloProvider client={client}>{children}</ApolloProvider>;
}

const Feed: Library["Feed"] = ({ first }) => {
  const { data, fetchMore } = useQuery(FeedDocument, { variables: { first } });
  if (!data?.feed) return null;
  const { edges, pageInfo } = data.feed;
  return (
    <FeedView
      posts={edges.map(({ node }) => node)}
      pageInfo={pageInfo}
      viewerId={data.viewer?.id}
      more={() => fetchMore({ variables: { after: pageInfo.endCursor } })}
    />
  );
};

const Post: Library["Post"] = ({ id }) => {
  const { data, refetch } = useQuery(PostDocument, { variables: { id } });
  const variables = { input: { postId: id } };
  const [like] = useMutation(LikePostDocument, { variables });
  const [unlike] = useMutation(UnlikePostDocument, {
    variables,
    update(cache, { data }) {
      const id = data?.unlikePost?.unlikedLikeId;
      if (id) cache.evict({ id: cache.identify({ __typename: "Like", id }) });
    },
  });
  const [remove] = useMutation(DeletePostDocument, {
    variables: { input: { id } },
    update(cache, { data }) {
      const post = data?.deletePost?.post;
      if (post) cache.evict({ id: cache.identify(post) });
    },
  });
  if (!data) return null;
  if (data.node?.__typename !== "Post") return <NoPost />;
  const post = data.node;
  return (
    <PostView
      post={post}
      likes={post.likes?.edges.map(({ node }) => node) ?? []}
      like={like}
      unlike={unlike}
      remove={remove}
      refresh={refetch}
    />
  );
};

const SignUp: Library["SignUp"] = ({ idempotencyKey }) => {
  const [create] = useMutation(CreateUserDocument);
  return (
    <Form
      title="Sign up"
      fields={["username"]}
      submit={async (values) => {
        const input = { ...values, idempotencyKey } as CreateUserInput;
        return errorsOf((await create({ variables: { input } })).error);
      }}
    />
  );
};

const NewPost: Library["NewPost"] = ({ idempotencyKey }) => {
  const [create] = useMutation(CreatePostDocument, {
    update(cache, { data }) {
      const post = data?.createPost?.post;
      if (!post) return;
      cache.modify({
        fields: {
          feed(feed, { toReference, readField }) {
            if (feed.edges.some(({ node }: any) => readField("id", node) === post.id)) return feed;
            const edge = { __typename: "PostEdge", cursor: "", node: toReference(post) };
            return { ...feed, edges: [edge, ...feed.edges] };
          },
        },
      });
    },
  });
  return (
    <Form
      title="New post"
      fields={["title", "content"]}
      submit={async (values) => {
        const input = { ...values, idempotencyKey } as CreatePostInput;
        return errorsOf((await create({ variables: { input } })).error);
      }}
    />
  );
};

const NewComment: Library["NewComment"] = ({ postId }) => {
  const [create] = useMutation(CreateCommentDocument);
  return (
    <Form
      title="New comment"
      fields={["content"]}
      submit={async (values) => {
        const input = { ...values, postId } as CreateCommentInput;
        return errorsOf((await create({ variables: { input } })).error);
      }}
    />
  );
};

const EditPost: Library["EditPost"] = ({ id, version }) => {
  const [update] = useMutation(UpdatePostDocument);
  return (
    <Form
      title="Edit post"
      fields={["title", "content"]}
      submit={async (values) => {
        return errorsOf((await update({ variables: { input: { ...values, id, version } } })).error);
      }}
    />
  );
};

const TwoPosts: Library["TwoPosts"] = ({ titles }) => {
  const [create] = useMutation(TwoPostsDocument);
  const [first, second] = titles.map((title) => ({ title, content: "One of two." }));
  return (
    <TwoPostsView
      send={async () => {
        const { data, error } = await create({ variables: { first: first!, second: second! } });
        return { posts: [data?.first?.post?.title, data?.second?.post?.title], errors: errorsOf(error) };
      }}
    />
  );
};

const apollo: Library = {
  name: "Apollo Client",
  connect,
  Feed,
  Post,
  SignUp,
  NewPost,
  NewComment,
  EditPost,
  TwoPosts,
};
scenario(apollo);
persistedScenario(apollo);
