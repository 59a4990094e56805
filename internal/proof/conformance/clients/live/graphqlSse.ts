import { print } from "graphql";
import { createClient } from "graphql-sse";
import { CommentAddedDocument, PostChangedDocument } from "../generated/gql/graphql";
import { faultsOf, type Library } from "./library";
import { plainRead } from "./plain";
import { pause, resumed } from "./resumed";

const documents = { PostChanged: print(PostChangedDocument), CommentAdded: print(CommentAddedDocument) };

export const graphqlSse: Library = (connection) => {
  const { url, token } = connection;
  const client = resumed(
    createClient({
      url,
      headers: async () => ({ Authorization: `Bearer ${await token()}` }),
      retryAttempts: Infinity, // by default 5, which also end a stream without answers
      retry: pause,
    }),
  );
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
