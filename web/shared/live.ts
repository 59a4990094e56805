// Subscriptions, all over one WebSocket. Event streams would use up the browser's six connections to
// a server, which all of its tabs share.
import type { Client, Sink, SubscribePayload } from 'graphql-ws/client';

// Socket has the origin of the API, if it is not that of the page. authorization returns the token of an
// account, if any, as in the header of this name. onRefused is called with the server's reason, and the token
// that was sent, if that is not valid, or no longer.
export type Socket = {
  origin?: string;
  authorization: () => string | undefined;
  onRefused: (reason: string, authorization?: string) => void;
};

// newLive returns a function that subscribes to an operation, and returns a function that ends this.
// The sink then hears no more. The socket is open while there are subscriptions. If it breaks, it opens
// again, and the subscriptions begin again with what their payload says then.
export function newLive({ origin = location.origin, authorization, onRefused }: Socket) {
  let client: Promise<Client> | undefined;

  // The library is loaded when it is first needed, after a place is painted.
  async function load() {
    const { createClient } = await import('graphql-ws/client');
    let silence: ReturnType<typeof setTimeout>;
    let sent: string | undefined;
    const loaded = createClient({
      url: `${origin.replace('http', 'ws')}/graphql`,
      connectionParams() {
        sent = authorization();
        return sent ? { Authorization: sent } : undefined;
      },
      retryAttempts: Infinity,
      retryWait,
      shouldRetry: () => true, // also if the server cannot be reached
      lazyCloseTimeout: 3000, // the next place can need it
      keepAlive: 12_000,
      on: {
        // A machine that slept does not notice that its connection is gone. So the server is asked.
        ping(isServers) {
          if (!isServers) silence = setTimeout(loaded.terminate, 5000);
        },
        pong: () => clearTimeout(silence),
        closed(event) {
          clearTimeout(silence);
          const { code, reason } = event as CloseEvent;
          if (code === forbidden) onRefused(reason, sent);
        },
      },
    });
    return loaded;
  }

  return function subscribe<Data>(payload: SubscribePayload, sink: Sink<Data>): () => void {
    let isEnded = false;
    let end = () => {};
    const heard: Sink<Data> = {
      next: (answer) => isEnded || sink.next(answer),
      error: (reason) => isEnded || sink.error(reason),
      complete: () => isEnded || sink.complete(),
    };
    client ??= load();
    client.then(
      (loaded) => {
        if (!isEnded) end = loaded.subscribe(payload, heard as Sink);
      },
      (reason) => {
        client = undefined;
        heard.error(reason);
      },
    );
    return () => {
      isEnded = true;
      end();
    };
  };
}

// forbidden is the code with which the server closes a socket whose token it refuses.
const forbidden = 4403;

// retryWait waits up to a second before the first try, and twice as long before each further one, up
// to half a minute. It does not wait longer once the browser is online again.
async function retryWait(retries: number) {
  const longest = Math.min(1000 * 2 ** retries, 30_000);
  const waiting = new AbortController();
  await new Promise<void>((done) => {
    setTimeout(done, longest * (0.5 + Math.random() / 2));
    addEventListener('online', () => done(), { signal: waiting.signal });
  });
  waiting.abort();
}
