import { useEffect, useEffectEvent } from 'react';
import {
  subscriptionExchange,
  useClient,
  type AnyVariables,
  type Exchange,
  type ExecutionResult,
  type TypedDocumentNode,
} from 'urql';
import { newLive, type Socket } from '../../../shared/live';
import { newStore } from '../../../shared/store';
import { ViewerDocument } from '../gql/graphql';
import { idOf, isUnknownId } from './ids';

// liveExchange executes subscriptions. context.after returns the cursor of the last element that the
// page has, so a subscription that begins again misses nothing. One that the server ends, because it is
// busy or has too many, begins again after half a minute.
export const liveExchange =
  (socket: Socket): Exchange =>
  (input) => {
    const subscribe = newLive(socket);
    return subscriptionExchange({
      forwardSubscription: ({ query }, { query: document, variables, context }) => ({
        subscribe(sink) {
          let sent: { query: string; documentId?: string } = { query: '', documentId: idOf(document) };
          const payload = {
            get query() {
              return sent.query;
            },
            get documentId() {
              return sent.documentId;
            },
            get variables() {
              return { ...variables, after: context.after?.() };
            },
          };
          // urql repeats the last answer for one without data, and at the end. So it learns of neither.
          function next(answer: ExecutionResult) {
            const viewer = input.client.readQuery(ViewerDocument, {})?.data?.viewer;
            if (viewer) rename(answer.data, viewer);
            if (answer.data) sink.next(answer);
          }
          let end: () => void;
          let pause: ReturnType<typeof setTimeout>;
          function error(reason: unknown) {
            if (sent.documentId && Array.isArray(reason) && isUnknownId(reason)) {
              sent = { query: query! };
              begin();
            } else beginLater();
          }
          const begin = () => {
            end = subscribe(payload, { next, error, complete: beginLater });
          };
          const beginLater = () => {
            pause = setTimeout(begin, 30_000);
          };
          begin();
          return {
            unsubscribe() {
              clearTimeout(pause);
              end();
            },
          };
        },
      }),
    })(input);
  };

// rename gives a user in an answer its present name. Subscriptions have the former one until all copies
// have the new one, and the cache has one name for all places.
function rename(value: unknown, user: { id: string; username: string }) {
  if (typeof value !== 'object' || value === null) return;
  if ('username' in value && 'id' in value && value.id === user.id) value.username = user.username;
  for (const each of Object.values(value)) rename(each, user);
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
  const hear = useEffectEvent((data: Data) => onData?.(data));
  const cursor = useEffectEvent(() => after?.());
  useEffect(() => {
    if (!isOn) return;
    const { unsubscribe } = client
      .subscription(query, variables, { after: () => cursor() })
      .subscribe(({ data }) => data && hear(data));
    return unsubscribe;
    // A place has the same query and variables as long as it is shown.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [client, isOn]);
}
