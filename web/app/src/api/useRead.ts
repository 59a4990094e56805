import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useQuery, type AnyVariables, type RequestPolicy, type TypedDocumentNode } from 'urql';
import { route } from '../route';
import { faultsOf, type Fault } from './faults';
import { isPreloaded } from './preloaded';
import { stale } from './stale';

// useRead reads what a place shows. The first place shows what came with the page. After a click on a
// link, a place shows what the cache has and reads it again. A reader who comes back finds the place as it
// was. If reading fails, the last answer stays beside the faults, until a further try succeeds. isStale
// tells that the answer may lack what the account has changed.
export function useRead<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) {
  const [requestPolicy] = useState<RequestPolicy>(() => {
    const isThere = route.get().isBack || isPreloaded(query, { ...variables });
    return isThere ? 'cache-first' : 'cache-and-network';
  });
  const [{ data, error, fetching, operation }, refetch] = useQuery({ query, variables, requestPolicy });
  const last = useRef<Data>(undefined);
  last.current = data ?? last.current;
  const retry = () => refetch({ requestPolicy: 'network-only' });
  const faults = faultsOf(error);
  useAgain(faults, retry);
  const isStale = stale.use().has(operation?.key ?? 0);
  return { data: last.current, faults, isLoading: fetching && !error, isStale, retry };
}

// useAgain tries again while there is no answer: every five seconds, and when the browser is online
// again.
export function useAgain(faults: Fault[], retry: () => void) {
  const isUnanswered = faults.some(({ code }) => !code);
  const again = useEffectEvent(retry);
  useEffect(() => {
    if (!isUnanswered) return;
    const onTime = () => again();
    const timer = setInterval(onTime, 5000);
    addEventListener('online', onTime);
    return () => {
      clearInterval(timer);
      removeEventListener('online', onTime);
    };
  }, [isUnanswered]);
}
