import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { CommentAddedDocument, LivePostDocument, PostChangedDocument } from "../generated/gql/graphql";
import { connect } from "./graphqlWs";
import { faultsOf, type Library } from "./library";

const documents = { PostChanged: PostChangedDocument, CommentAdded: CommentAddedDocument };

export const apollo: Library = (connection) => {
  const live = connect(connection);
  const signIn = new SetContextLink(async ({ headers }) => ({
    headers: { ...headers, Authorization: `Bearer ${await connection.token()}` },
  }));
  const client = new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === "subscription",
      new GraphQLWsLink(live),
      ApolloLink.from([signIn, new HttpLink({ uri: connection.url })]),
    ),
    cache: new InMemoryCache(),
    defaultOptions: { watchQuery: { errorPolicy: "all" }, query: { errorPolicy: "all" }, mutate: { errorPolicy: "all" } },
  });
  return {
    async read(id) {
      const { data } = await client.query({ query: LivePostDocument, variables: { id } });
      return data!.post!.comments!.pageInfo.endCursor ?? "";
    },
    shown: (id) => client.readQuery({ query: LivePostDocument, variables: { id } })?.post ?? undefined,
    subscribe(name, variables, sink) {
      const tell = (error: unknown) => sink.error(CombinedGraphQLErrors.is(error) ? error.errors : faultsOf(error));
      const subscription = client.subscribe<any, any>({ query: documents[name], variables }).subscribe({
        next: ({ data, error }) => (error ? tell(error) : sink.next(data)),
        error: tell,
        complete: () => sink.complete(),
      });
      return () => subscription.unsubscribe();
    },
  };
};
