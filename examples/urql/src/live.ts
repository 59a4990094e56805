// Subscriptions to the API, for any client library.
import { createClient } from "graphql-ws";
import { name, renew, token } from "./account";
import { pause, resumed } from "./resumed";
import { url } from "./url";

let bearer: string | undefined; // that the last connection has sent
let renewal: Promise<unknown> | undefined;
let silence: ReturnType<typeof setTimeout>;

const client = createClient({
  url: url.replace(/^http/, "ws"),
  async connectionParams() {
    await renewal;
    bearer = await token();
    return bearer ? { Authorization: `Bearer ${bearer}` } : {};
  },
  retryAttempts: Infinity, // by default, five failures end a subscription
  retryWait: pause,
  shouldRetry: () => true, // by default, a refused connection ends it too
  keepAlive: 12_000,
  on: {
    // A machine that slept does not notice that its connection is gone. So the server is asked.
    ping(isServers) {
      if (!isServers) silence = setTimeout(client.terminate, 5000);
    },
    pong: () => clearTimeout(silence),
    closed(event) {
      clearTimeout(silence);
      const isExpired = (event as CloseEvent).code === 4403;
      if (isExpired && name) renewal = renew(bearer).catch(() => {}); // the next connection then tells why
    },
  },
});

// live executes subscriptions, over one WebSocket for the page. If the connection breaks, it connects
// again, also after the server was down.
export const live = resumed(client);
