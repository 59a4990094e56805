import { useEffect, useRef } from 'react';
import { subscriptionExchange, useClient, type AnyVariables, type TypedDocumentNode } from 'urql';
import { newLive, type Socket } from '../../../shared/live';
import { newStore } from '../../../shared/store';

// liveExchange executes subscriptions. context.after returns the cursor of the last element that the
// page has, so a subscription that begins again misses nothing. urql gets answers with data only: it
// would repeat the last one for an answer without data, and at the end.
export function liveExchange(socket: Socket) {
  const subscribe = newLive(socket);
  return subscriptionExchange({
    forwardSubscription: ({ query }, { variables, context }) => ({
      subscribe(sink) {
        const payload = {
          query: query!,
          get variables() {
            return { ...variables, after: context.after?.() };
          },
        };
        const next: typeof sink.next = (answer) => answer.data && sink.next(answer);
        return { unsubscribe: subscribe(payload, { next, error() {}, complete() {} }) };
      },
    }),
  });
}

// awake is false after the tab was hidden for half a minute. Its subscriptions end then, and begin
// again when somebody looks at it.
const awake = newStore(!document.hidden);
let falling: ReturnType<typeof setTimeout>;
document.addEventListener('visibilitychange', () => {
  clearTimeout(falling);
  if (document.hidden) falling = setTimeout(() => awake.set(false), 30_000);
  else awake.set(true);
});

type Options<Data> = { onData?: (data: Data) => void; after?: () => string | null | undefined; isReady?: boolean };

// useLive subscribes to what changes in a place while it is shown. The cache takes in what arrives,
// and onData learns of it. Without a connection, the place stays as it was read.
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { onData, after, isReady = true }: Options<Data>,
) {
  const client = useClient();
  const isOn = awake.use() && isReady;
  const latest = useRef({ onData, after });
  latest.current = { onData, after };
  useEffect(() => {
    if (!isOn) return;
    const context = { after: () => latest.current.after?.() };
    const { unsubscribe } = client
      .subscription(query, variables, context)
      .subscribe(({ data }) => data && latest.current.onData?.(data));
    return unsubscribe;
  }, [client, isOn]);
}
