// Subscriptions to the API, for any client library.
import { createClient } from "graphql-ws";
import { name, renew, token } from "./account";
import { pause, resumed } from "./resumed";
import { url } from "./url";

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
