// Requests to the API of this server.
import type { Fetcher, FetcherParams, Observable } from '@graphiql/toolkit';
import { GraphQLError, Kind, parse, type ExecutionResult, type OperationDefinitionNode } from 'graphql';
import type { Sink } from 'graphql-ws/client';
import { record } from './charges';
import type { Ids } from './examples';
import { noAnswer, Refused } from '../../shared/fetch';
import { newLive } from '../../shared/live';
import { expire } from '../../shared/session';
import { bearer, current, sessionHeaders } from './session';

async function post(path: string, headers: HeadersInit, body: object): Promise<Response> {
  const all = new Headers(headers);
  all.set('accept', 'application/graphql-response+json, application/json');
  all.set('content-type', 'application/json');
  return fetch(path, { method: 'POST', headers: all, body: JSON.stringify(body) });
}

// execute sends an operation as the account that is signed in, unless headers name another. If the
// server does not accept the session's token, because it expired or the data folder is a new one, the
// session ends and the operation is sent without it.
async function execute(body: object, headers: Record<string, unknown> = {}): Promise<Response> {
  const session = current();
  const all = new Headers(sessionHeaders());
  for (const [name, value] of Object.entries(headers)) all.set(name, String(value));
  const response = await post('/graphql', all, body);
  if (response.status !== 401 || !session || all.get('authorization') !== bearer(session)) return response;
  expire(session.token);
  return execute(body, headers);
}

// fetcher executes the operations of the editor, and records the charges of all but introspection. It
// returns a sentence if there is no answer: GraphiQL would show what is thrown with its stack.
export const fetcher: Fetcher = async (params, options) => {
  const operation = operationOf(params);
  const body = { ...params, operationName: operation ? operation.name?.value : params.operationName };
  if (operation?.operation === 'subscription') return live(body, options?.headers);
  const started = performance.now();
  let text: string;
  let result: ExecutionResult;
  try {
    const response = await execute(body, options?.headers);
    text = await response.text();
    result = JSON.parse(text);
  } catch {
    return { errors: [new GraphQLError(noAnswer)] };
  }
  if (params.operationName !== 'IntrospectionQuery') {
    record({ result, milliseconds: performance.now() - started, bytes: size(text) });
  }
  return result;
};

// Price is the price of an operation in RU.
export interface Price {
  ru: number;
  field?: string; // the most expensive one
  limit?: number; // if the price is above it
}

// priceOf returns the price of a valid operation, which is not executed, or undefined if the server
// returns none.
export async function priceOf(params: FetcherParams, signal: AbortSignal): Promise<Price | undefined> {
  const response = await fetch('/graphql', {
    method: 'POST',
    // A price above the limit has the status 200 only for this media type. Browsers log others.
    headers: { accept: 'application/json', 'content-type': 'application/json', 'x-cosmos-diagnostics': 'price' },
    body: JSON.stringify({ ...params, operationName: operationOf(params)?.name?.value }),
    signal,
  });
  const { errors, extensions }: ExecutionResult = await response.json();
  const cosmos = extensions?.cosmos as { estimate: number; mostExpensive?: { field: string } } | undefined;
  if (cosmos) return { ru: cosmos.estimate, field: cosmos.mostExpensive?.field };
  const refusal = errors?.[0]?.extensions as { code: string; price: number; field: string; limit: number } | undefined;
  if (refusal?.code !== 'COST_LIMIT_EXCEEDED') return;
  return { ru: refusal.price, field: refusal.field, limit: refusal.limit };
}

const size = (text: string) => new Blob([text]).size;

// operationOf returns the operation to execute, if it is clear which one. GraphiQL learns the names in a
// text some moments after it has changed, and may still have one of the text before.
function operationOf({ query, operationName }: FetcherParams): OperationDefinitionNode | undefined {
  try {
    const operations = parse(query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    return operations.length === 1 ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  } catch {
    return; // the server says what is wrong
  }
}

// live executes a subscription as the account that is signed in, unless headers name another, until
// GraphiQL stops it. If the server does not accept the session's token, the session ends.
function live(body: FetcherParams, headers: Record<string, unknown> = {}) {
  const session = current();
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization');
  const authorization = named ? String(named[1]) : session && bearer(session);
  return {
    subscribe({ next, error, complete }: Sink<ExecutionResult>) {
      const show = (result: ExecutionResult) => {
        record({ result, bytes: size(JSON.stringify(result)) });
        next(result);
      };
      const end = newLive({
        authorization: () => authorization,
        onRefused(reason) {
          if (!named) expire(session?.token);
          end();
          show({ errors: [new GraphQLError(reason, { extensions: { code: 'UNAUTHENTICATED' } })] });
          complete();
        },
      })<ExecutionResult>(body, {
        next: show,
        complete,
        error: (reasons) => (Array.isArray(reasons) ? show({ errors: reasons }) : error(reasons)),
      });
      return { unsubscribe: end };
    },
  } as Observable<ExecutionResult>;
}

// ask sends an operation that the page itself needs, as the account that is signed in.
export async function ask<Data>(query: string, variables: object): Promise<Data> {
  const result = (await (await execute({ query, variables })).json()) as ExecutionResult<Data>;
  if (result.errors?.[0]) throw new Refused(result.errors[0].message);
  return result.data!;
}

// readUsername returns the username of a token's account, if it has a user.
export async function readUsername(token: string): Promise<string | undefined> {
  const answer = await post('/graphql', { authorization: `Bearer ${token}` }, { query: '{ viewer { username } }' });
  const { data, errors }: ExecutionResult<{ viewer: { username: string } | null }> = await answer.json();
  if (errors?.[0]) throw new Refused(errors[0].message);
  return data?.viewer?.username;
}

// findIds returns ids for the examples: the viewer, or else an author, and the most discussed of the
// most recent posts.
export async function findIds(): Promise<Ids> {
  interface Answer {
    viewer: { id: string } | null;
    feed: { nodes: { id: string; commentCount: number; likeCount: number; author: { id: string } }[] } | null;
  }
  const query = '{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }';
  const { viewer, feed } = await ask<Answer>(query, {});
  const discussed = (post: { commentCount: number; likeCount: number }) => Math.min(post.commentCount, post.likeCount);
  const post = feed?.nodes.toSorted((a, b) => discussed(b) - discussed(a))[0];
  return { postId: post?.id, userId: viewer?.id ?? post?.author.id };
}
