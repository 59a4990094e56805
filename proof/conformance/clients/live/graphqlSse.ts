import { print } from "graphql";
import { createClient, NetworkError } from "graphql-sse";
import { CommentAddedDocument, PostChangedDocument } from "../generated/gql/graphql";
import { faultsOf, type Library } from "./library";
import { plainRead } from "./plain";
import { pause, resumed } from "../../../../examples/apollo/src/resumed";

// fetchStream turns the end of a stream into a failure, after which graphql-sse connects again. In a
// browser, graphql-sse 2.6 overlooks an end that arrives with an answer, and waits for ever.
async function fetchStream(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done) controller.error(new NetworkError("The stream has ended"));
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}

const documents = { PostChanged: print(PostChangedDocument), CommentAdded: print(CommentAddedDocument) };

export const graphqlSse: Library = (connection) => {
  const { url, token } = connection;
  const client = resumed(
    createClient({
      url,
      fetchFn: fetchStream,
      headers: async () => ({ Authorization: `Bearer ${await token()}` }),
      retryAttempts: Infinity, // by default, five interruptions without an answer end a subscription
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
