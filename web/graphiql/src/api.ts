// Requests to the API of this server.
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { GraphQLError, Kind, parse, type ExecutionResult } from 'graphql';
import { record } from './charges';
import type { Ids } from './examples';
import { noAnswer, Refused } from '../../shared/fetch';
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
  const started = performance.now();
  let text: string;
  let result: ExecutionResult;
  try {
    const response = await execute({ ...params, operationName: operationName(params) }, options?.headers);
    text = await response.text();
    result = JSON.parse(text);
  } catch {
    return { errors: [new GraphQLError(noAnswer)] };
  }
  if (params.operationName !== 'IntrospectionQuery') {
    record({ result, milliseconds: performance.now() - started, bytes: new Blob([text]).size });
  }
  return result;
};

// operationName returns the name of the operation to execute. GraphiQL learns the names in a text some
// moments after it has changed, and may still have one of the text before.
function operationName({ query, operationName }: FetcherParams): string | null | undefined {
  try {
    const operations = parse(query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    const names = operations.map((operation) => operation.name?.value);
    return names.length === 1 ? names[0] : operationName;
  } catch {
    return operationName; // the server says what is wrong
  }
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
