// Requests to the API of this server.
import type { Fetcher } from '@graphiql/toolkit';
import type { ExecutionResult } from 'graphql';
import { record } from './charges';
import type { Ids } from './examples';

type Headers = Record<string, string>;

async function post(path: string, headers: Headers, body: object): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { accept: 'application/graphql-response+json, application/json', ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

// fetcher executes the operations of the editor, and records the charges of all but introspection.
export const fetcher: Fetcher = async (params, options) => {
  const started = performance.now();
  const response = await post('/graphql', (options?.headers ?? {}) as Headers, params);
  const text = await response.text();
  const result = JSON.parse(text) as ExecutionResult;
  if (params.operationName !== 'IntrospectionQuery') {
    record({ result, milliseconds: performance.now() - started, bytes: new Blob([text]).size });
  }
  return result;
};

// ask sends an operation that the page itself needs. It throws an error with the server's message.
export async function ask<Data>(query: string, variables: object, headers: Headers): Promise<Data> {
  const result = (await (await post('/graphql', headers, { query, variables })).json()) as ExecutionResult<Data>;
  if (result.errors?.[0]) throw new Error(result.errors[0].message);
  return result.data!;
}

// token returns a token for a name, with which servers in development sign in. It throws an error with
// the server's message.
export async function token(name: string): Promise<string> {
  const answer = await (await post('/development/token', {}, { name })).json();
  if (!answer.token) throw new Error(answer.errors?.[0]?.message ?? 'This server signs nobody in by name.');
  return answer.token;
}

// findIds returns ids for the examples: the viewer, or else an author, and the most discussed of the
// most recent posts.
export async function findIds(headers: Headers): Promise<Ids> {
  interface Answer {
    viewer: { id: string } | null;
    feed: { nodes: { id: string; commentCount: number; likeCount: number; author: { id: string } }[] } | null;
  }
  const query = '{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }';
  const { viewer, feed } = await ask<Answer>(query, {}, headers);
  const discussed = (post: { commentCount: number; likeCount: number }) => Math.min(post.commentCount, post.likeCount);
  const post = feed?.nodes.toSorted((a, b) => discussed(b) - discussed(a))[0];
  return { postId: post?.id, userId: viewer?.id ?? post?.author.id };
}
