import { useRef } from 'react';
import { useQuery, type AnyVariables, type TypedDocumentNode } from 'urql';
import { route } from '../route';
import { faultsOf } from './faults';

// useRead reads what a place shows. A click on a link reads it again, and shows the last answer
// meanwhile; a reader who comes back finds it as it was. Its faults come beside the last answer. retry
// reads again.
export function useRead<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) {
  const requestPolicy = route.get().isBack ? 'cache-first' : 'cache-and-network';
  const [{ data, error, fetching }, refetch] = useQuery({ query, variables, requestPolicy });
  const last = useRef<Data>(undefined);
  last.current = data ?? last.current;
  return {
    data: last.current,
    faults: faultsOf(error),
    isLoading: fetching,
    retry: () => refetch({ requestPolicy: 'network-only' }),
  };
}
