// Subscriptions to the API, for any client library.
import { createClient } from "graphql-ws";
import { name, renew, token } from "./account";
import { url } from "./url";

// pause waits before another try: one to two seconds at first, later up to 30. As it is random, the
// clients of a server that stopped do not all connect at once.
const pause = (tries: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, (1 + Math.random()) * Math.min(1000 * 2 ** tries, 15_000)));

// live executes subscriptions, over one WebSocket for the page. If the connection breaks, it connects
// again, also after the server was down.
export const live = resumed(
  createClient({
    url: url.replace(/^http/, "ws"),
    connectionParams: async () => (name ? { Authorization: `Bearer ${await token()}` } : {}),
    retryAttempts: Infinity, // by default, five failures end a subscription
    retryWait: pause,
    shouldRetry: () => true, // by default, a refused connection ends it too
    on: {
      closed: (event) => {
        if ((event as CloseEvent).code === 4403 && name) renew().catch(() => {}); // the token has expired
      },
    },
  }),
);

// resumed returns a client whose subscriptions continue after the last element that they have received,
// so nothing is missed. They must select cursor, and have the variable $after. A persisted document is
// sent without its text.
function resumed<Client extends { subscribe(payload: any, sink: any): () => void }>(client: Client): Client {
  return {
    ...client,
    subscribe(payload: any, sink: any) {
      const variables = { ...payload.variables }; // the client sends them again, as they are then
      const query = payload.extensions?.persistedQuery ? "" : payload.query;
      return client.subscribe({ ...payload, query, variables }, {
        next(answer: any) {
          const [element] = Object.values<any>(answer.data ?? {});
          if (element?.cursor) variables.after = element.cursor;
          if (answer.extensions?.gap) dispatchEvent(new Event("gap")); // posts have left the feed meanwhile
          sink.next(answer);
        },
        error: (error: unknown) => sink.error(error),
        complete: () => sink.complete(),
      });
    },
  };
}
