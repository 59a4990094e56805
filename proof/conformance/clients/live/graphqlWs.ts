import { print } from "graphql";
import { createClient } from "graphql-ws";
import { CommentAddedDocument, PostChangedDocument } from "../generated/gql/graphql";
import { faultsOf, type Connection, type Library } from "./library";
import { plainRead } from "./plain";
import { pause, resumed } from "../../../../examples/apollo/src/resumed";

// connect returns a client of graphql-ws, which Apollo Client, urql and Relay use too.
export function connect({ url, token, closed }: Connection) {
  const client = resumed(
    createClient({
      url: url.replace(/^http/, "ws"),
      connectionParams: async () => ({ Authorization: `Bearer ${await token()}` }),
      retryAttempts: Infinity, // by default, five failures end a subscription
      retryWait: pause,
      shouldRetry: () => true, // by default, a refused connection ends it too
    }),
  );
  client.on("closed", (event) => closed((event as CloseEvent).code));
  return client;
}

const documents = { PostChanged: print(PostChangedDocument), CommentAdded: print(CommentAddedDocument) };

export const graphqlWs: Library = (connection) => {
  const client = connect(connection);
  return {
    read: plainRead(connection),
    shown: () => undefined,
    subscribe: (name, variables, sink) =>
      client.subscribe({ query: documents[name], variables }, {
        next: ({ data, errors }) => (errors ? sink.error(errors) : sink.next(data)),
        error: (error) => sink.error(faultsOf(error)),
        complete: () => sink.complete(),
      }),
  };
};
