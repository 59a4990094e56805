import { Client, fetchExchange, makeOperation, mapExchange, type CombinedError, type Operation } from 'urql';
import { retryExchange } from '@urql/exchange-retry';
import type { OperationDefinitionNode } from 'graphql';
import { fetchAs } from '../../../shared/written';
import { newCache } from './cache';
import { addCost } from './cost';
import { isUnknownId, ofText, withId } from './ids';
import { liveExchange } from './live';
import { page } from './page';
import { preloadedExchange } from './preloaded';
import { noteStale } from './stale';

// Account is the account of a client, if any. Its token can change.
export type Account = {
  name?: string;
  token: () => string | undefined;
  // refused is called if the server rejects a token. It returns true if the account has another one then,
  // unless it cannot be renewed again.
  refused: (token: string, canRenew?: boolean) => Promise<boolean>;
};

// newClient returns an account's client of the API with an empty cache. A page that signs in or out
// makes a new one, because the cache holds what the viewer could see.
export function newClient(account: Account): Client {
  const send = fetchAs(account.name);
  const bearer = () => account.token() && `Bearer ${account.token()}`;

  // A request whose token was rejected has executed nothing, and can be sent again with another one.
  async function fetchAgain(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const token = account.token();
    const response = await send(input, init);
    if (response.status !== 401 || !token || !(await account.refused(token))) return response;
    const renewed = account.token()!;
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${renewed}`);
    const again = await send(input, { ...init, headers });
    if (again.status === 401) await account.refused(renewed, false);
    return again;
  }
  return new Client({
    url: `${page.api ?? ''}/graphql`,
    preferGetMethod: false,
    fetch: fetchAgain,
    fetchOptions: () => ({
      headers: {
        accept: 'application/graphql-response+json, application/json;q=0.9',
        ...(page.development && { 'x-cosmos-diagnostics': '1' }),
        ...(account.token() && { authorization: bearer() }),
      },
    }),
    exchanges: [
      newCache(),
      retryExchange({ initialDelayMs: 100, maxNumberAttempts: 3, retryWith }),
      mapExchange({
        onOperation: withId,
        onResult(result) {
          addCost(result);
          noteStale(result);
          return ofText(result);
        },
      }),
      preloadedExchange,
      liveExchange({
        origin: page.api,
        authorization: bearer,
        // The socket opens again, with the account's token of then.
        onRefused: (_, authorization) => void account.refused(authorization!.replace('Bearer ', '')).catch(() => {}),
      }),
      fetchExchange,
    ],
  });
}

// isRepeatable reports whether an operation can be sent twice. Likes are safe; other mutations without
// a key could happen twice.
function isRepeatable({ kind, query, variables }: Operation) {
  const { name } = query.definitions[0] as OperationDefinitionNode;
  return kind === 'query' || variables?.input?.idempotencyKey || /^(Like|Unlike)Post$/.test(name!.value);
}

// retryWith repeats an operation whose answer was lost, one for which the server asks for a wait, and one
// whose document the server does not know by its id.
function retryWith(error: CombinedError, operation: Operation) {
  if (isUnknownId(error.graphQLErrors)) {
    return makeOperation(operation.kind, operation, { ...operation.context, hasText: true });
  }
  if (!isRepeatable(operation) || error.networkError?.name === 'TimeoutError') return null;
  const waits = error.graphQLErrors.map(({ extensions }) => Number(extensions.retryAfterMs ?? 0));
  const delay = Math.max(0, ...waits);
  if (!delay) return error.networkError ? operation : null;
  const { count } = operation.context.retry ?? { count: 0 };
  return makeOperation(operation.kind, operation, { ...operation.context, retry: { count, delay } });
}
