import { Client, fetchExchange, makeOperation, mapExchange, type CombinedError, type Operation } from 'urql';
import { retryExchange } from '@urql/exchange-retry';
import type { OperationDefinitionNode } from 'graphql';
import type { Session } from '../../../shared/session';
import { fetchAs } from '../../../shared/written';
import { newCache } from './cache';
import { addCost } from './cost';
import { liveExchange } from './live';
import { noteStale } from './stale';

// newClient returns an account's client of the API with an empty cache. A page that signs in or out
// makes a new one, because the cache holds what the viewer could see. It calls onRefused if the
// server rejects the account's token.
export function newClient(account: Session | null, onRefused: () => void): Client {
  const headers: Record<string, string> = {
    accept: 'application/graphql-response+json, application/json;q=0.9',
    'x-cosmos-diagnostics': '1',
  };
  if (account?.token) headers.authorization = `Bearer ${account.token}`;
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetch: fetchAs(account?.token && account.name),
    fetchOptions: { headers },
    exchanges: [
      newCache(),
      retryExchange({ initialDelayMs: 100, maxNumberAttempts: 3, retryWith }),
      mapExchange({
        onResult(result) {
          addCost(result);
          noteStale(result);
          if (codesOf(result.error).includes('UNAUTHENTICATED')) onRefused();
        },
      }),
      liveExchange({ authorization: headers.authorization, onRefused }),
      fetchExchange,
    ],
  });
}

const codesOf = (error?: CombinedError) => error?.graphQLErrors.map(({ extensions }) => extensions.code) ?? [];

// isRepeatable reports whether an operation can be sent twice. Likes are safe; other mutations without
// a key could happen twice.
function isRepeatable({ kind, query, variables }: Operation) {
  const { name } = query.definitions[0] as OperationDefinitionNode;
  return kind === 'query' || variables?.input?.idempotencyKey || /^(Like|Unlike)Post$/.test(name!.value);
}

// retryWith repeats an operation whose answer was lost, and one for which the server asks for a wait.
function retryWith(error: CombinedError, operation: Operation) {
  if (!isRepeatable(operation) || error.networkError?.name === 'TimeoutError') return null;
  const waits = error.graphQLErrors.map(({ extensions }) => Number(extensions.retryAfterMs ?? 0));
  const delay = Math.max(0, ...waits);
  if (!delay) return error.networkError ? operation : null;
  const { count } = operation.context.retry ?? { count: 0 };
  return makeOperation(operation.kind, operation, { ...operation.context, retry: { count, delay } });
}
