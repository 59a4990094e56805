import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { onEnd, pipe, subscribe } from "wonka";
import { CommentAddedDocument, LivePostDocument, PostChangedDocument } from "../generated/gql/graphql";
import { connect } from "./graphqlWs";
import { faultsOf, type Library } from "./library";

const documents = { PostChanged: PostChangedDocument, CommentAdded: CommentAddedDocument };

export const urql: Library = (connection) => {
  const live = connect(connection);
  const subscriptions = subscriptionExchange({
    forwardSubscription: ({ query = "", variables }) => ({
      subscribe: (sink) => ({ unsubscribe: live.subscribe({ query, variables }, sink) }),
    }),
  });
  const client = new Client({
    url: connection.url,
    preferGetMethod: false,
    exchanges: [cacheExchange({}), subscriptions, fetchExchange],
  });
  return {
    async read(id) {
      const { data } = await client.query(LivePostDocument, { id });
      return data!.post!.comments!.pageInfo.endCursor ?? "";
    },
    shown: (id) => client.readQuery(LivePostDocument, { id })?.data?.post ?? undefined,
    subscribe(name, variables, sink) {
      let isStopped = false;
      const subscription = pipe(
        client.subscription<any, any>(documents[name], variables),
        onEnd(() => isStopped || sink.complete()),
        subscribe(({ data, error, hasNext }) => {
          if (error?.networkError) sink.error(faultsOf(error.networkError));
          else if (!hasNext) return; // at the end, urql passes the last answer once more
          else if (error) sink.error(error.graphQLErrors);
          else sink.next(data);
        }),
      );
      return () => {
        isStopped = true;
        subscription.unsubscribe();
      };
    },
  };
};
