// The questions of docs/analytics.md.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const program = process.env.COSMOSBLOG;
const data = join(process.env.WORK, 'data');
const folder = join(process.env.WORK, 'export');
const run = async (...args) => (await promisify(execFile)(program, args)).stdout;
const exportAll = () => run('export', '--data', data, '--to', folder);

const sql = [...readFileSync('../../docs/analytics.md', 'utf8').matchAll(/```sql\n(.*?)```/gs)].map(([, text]) =>
  text.replaceAll("'export/", `'${folder}/`),
);
const [views, ...questions] = sql;
const upTo = questions.pop();

await run('seed', '--users', '12', '--data', data);
const server = spawn(program, ['serve', '--addr', '127.0.0.1:0', '--data', data], { stdio: ['ignore', 'pipe', 'ignore'] });
after(async () => {
  server.kill();
  await once(server, 'exit');
});
const lines = createInterface(server.stdout);
const [line] = await once(lines, 'line');
const url = line.match(/http:\/\/[0-9.:]+/)[0] + '/graphql';

// ask returns the data of an answer. token is that of the user who asks, if any.
async function ask(query, variables, token) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const answer = await response.json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const database = await DuckDBInstance.create();
const duckdb = await database.connect();
const rows = async (text) => (await duckdb.runAndReadAll(text)).getRowObjectsJS().map(plain);
const plain = (row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, typeof v === 'bigint' ? Number(v) : v]));
const sum = (list, name) => list.reduce((total, row) => total + row[name], 0);
const month = (date) => date.toISOString().slice(0, 7);

// allPosts returns all posts of the blog, from the lists of their authors.
async function allPosts(usernames) {
  const posts = [];
  for (const username of usernames) {
    const query = `query ($username: String!, $after: String) { userByUsername(username: $username) { posts(first: 50, after: $after) {
      nodes { tags { name } commentCount likeCount creationDate } pageInfo { hasNextPage endCursor } } } }`;
    for (let after = null, more = true; more; ) {
      const { posts: page } = (await ask(query, { username, after })).userByUsername;
      posts.push(...page.nodes);
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
    }
  }
  return posts;
}

test('the page has the views and five questions', () => {
  assert.equal(views.match(/CREATE VIEW/g).length, 5);
  assert.equal(questions.length, 5);
});

test('the answers are those of the API', async () => {
  const token = (await run('token', '--sub', 'anna', '--data', data)).trim();
  await ask('mutation { createUser(input: { username: "anna" }) { user { id } } }', {}, token);
  const post = `mutation ($title: String!) { createPost(input: { title: $title, content: "Text", tags: ["duckdb"] }) { post { id } } }`;
  const kept = (await ask(post, { title: 'Kept' }, token)).createPost.post.id;
  const gone = (await ask(post, { title: 'Gone' }, token)).createPost.post.id;
  const comment = 'mutation ($id: ID!) { createComment(input: { postId: $id, content: "To be deleted" }) { comment { id } } }';
  const deleted = (await ask(comment, { id: kept }, token)).createComment.comment.id;
  await ask(comment, { id: gone }, token);
  await ask('mutation ($id: ID!) { likePost(input: { postId: $id }) { like { id } } }', { id: kept }, token);
  await exportAll();
  await ask('mutation ($id: ID!) { unlikePost(input: { postId: $id }) { post { id } } }', { id: kept }, token);
  await ask('mutation ($id: ID!) { deleteComment(input: { id: $id }) { comment { id } } }', { id: deleted }, token);
  await ask('mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }', { id: gone }, token);
  await exportAll();
  await duckdb.run(views);

  const [{ upTo: until, startedAgain }] = await rows(upTo);
  assert.ok(Date.now() - new Date(until) < 60_000 && startedAgain === false, `${until}, ${startedAgain}`);
  const [growth, tags, pairs, [like], deletions] = await Promise.all(questions.map(rows));
  const users = await rows('SELECT user_id, username FROM users WHERE NOT deleted');
  assert.equal(users.length, 13);
  const posts = await allPosts(users.map((user) => user.username));
  assert.ok(posts.length > 60);

  assert.equal(sum(growth, 'new_users'), users.length);
  assert.equal(sum(growth, 'posts'), posts.length);
  assert.equal(growth.at(-1).posts_so_far, posts.length);

  const uses = {};
  for (const { tags: names, creationDate } of posts) {
    for (const { name } of names) uses[`${creationDate.slice(0, 7)} ${name}`] = (uses[`${creationDate.slice(0, 7)} ${name}`] ?? 0) + 1;
  }
  assert.deepEqual(Object.fromEntries(tags.map((row) => [`${month(row.month)} ${row.tag}`, row.posts])), uses);

  const [{ comments }] = await rows('SELECT count(*) AS comments FROM comments WHERE NOT deleted');
  assert.equal(comments, sum(posts, 'commentCount'));
  assert.equal(pairs.length, 20);
  const number = `SELECT count(*) AS n FROM comments c JOIN posts p USING (post_id)
    JOIN users a ON a.user_id = c.author_id JOIN users b ON b.user_id = p.author_id
    WHERE NOT c.deleted AND a.username = '%a' AND b.username = '%b'`;
  for (const { commenter, author, comments, returned } of pairs) {
    const [[there], [back]] = await Promise.all(
      [[commenter, author], [author, commenter]].map(([a, b]) => rows(number.replace('%a', a).replace('%b', b))),
    );
    assert.deepEqual([there.n, back.n], [comments, returned]);
  }
  assert.ok(pairs.some((row) => row.returned > 0));

  assert.equal(like.likes, sum(posts, 'likeCount'));
  assert.ok(like.percent_of_likes > 0 && like.percent_without_like > 0);

  assert.deepEqual(
    deletions.map(({ kind, deleted, with_text }) => ({ kind, deleted, with_text })),
    [
      { kind: 'comment', deleted: 1, with_text: 1 },
      { kind: 'post', deleted: 1, with_text: 1 },
    ],
  );
});
