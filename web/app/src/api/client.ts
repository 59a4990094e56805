import { Client, fetchExchange, makeOperation, mapExchange, type CombinedError, type Operation } from 'urql';
import { retryExchange } from '@urql/exchange-retry';
import { newCache } from './cache';
import { addCost } from './cost';

// newClient returns a client of the API with an empty cache. A page that signs in or out makes a
// new one, because the cache holds what the viewer could see. It calls onRefused if the server
// rejects the token.
export function newClient(token: string | undefined, onRefused: () => void): Client {
  const headers: Record<string, string> = {
    accept: 'application/graphql-response+json, application/json;q=0.9',
    'x-cosmos-diagnostics': '1',
  };
  if (token) headers.authorization = `Bearer ${token}`;
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers },
    exchanges: [
      newCache(),
      retryExchange({ initialDelayMs: 100, maxNumberAttempts: 3, retryWith }),
      mapExchange({
        onResult(result) {
          addCost(result);
          if (codesOf(result.error).includes('UNAUTHENTICATED')) onRefused();
        },
      }),
      fetchExchange,
    ],
  });
}

const codesOf = (error?: CombinedError) => error?.graphQLErrors.map(({ extensions }) => extensions.code) ?? [];

// retryWith repeats an operation without an answer, and one for which the server asks for a wait. A
// mutation without a key could happen twice.
function retryWith(error: CombinedError, operation: Operation) {
  if (operation.kind !== 'query' && operation.variables?.input?.idempotencyKey === undefined) return null;
  const waits = error.graphQLErrors.map(({ extensions }) => Number(extensions.retryAfterMs ?? 0));
  const delay = Math.max(0, ...waits);
  if (!delay) return error.networkError ? operation : null;
  const { count } = operation.context.retry ?? { count: 0 };
  return makeOperation(operation.kind, operation, { ...operation.context, retry: { count, delay } });
}
