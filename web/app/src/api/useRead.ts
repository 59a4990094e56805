import { useEffect, useRef } from 'react';
import { useQuery, type AnyVariables, type TypedDocumentNode } from 'urql';
import { route } from '../route';
import { faultsOf } from './faults';

// useRead reads what a place shows. After a click on a link, it shows what the cache has and reads it
// again. A reader who comes back finds the place as it was. If reading fails, the last answer stays
// beside the faults; retry reads again, and so does the browser when it is online again.
export function useRead<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) {
  const requestPolicy = route.get().isBack ? 'cache-first' : 'cache-and-network';
  const [{ data, error, fetching }, refetch] = useQuery({ query, variables, requestPolicy });
  const last = useRef<Data>(undefined);
  last.current = data ?? last.current;
  const retry = () => refetch({ requestPolicy: 'network-only' });
  useEffect(() => {
    if (!error) return;
    addEventListener('online', retry);
    return () => removeEventListener('online', retry);
  }, [error]);
  return { data: last.current, faults: faultsOf(error), isLoading: fetching, retry };
}
