// The cache of the blog behind urql's client. The answers are made up.
import { CombinedError, createClient, makeResult } from '@urql/core';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as settle } from 'node:timers/promises';
import { filter, fromPromise, map, mergeMap, pipe, take, toPromise } from 'wonka';
import { newCache } from '../app/src/api/cache';
import * as gql from '../app/src/gql/graphql';

// openBlog returns a client whose requests are answered by the fields in answers, each named as the
// operation: its data, or a function of its variables. requests has the names of the requests.
function openBlog(answers) {
  const requests = [];
  async function answer(operation) {
    const { name } = operation.query.definitions[0];
    requests.push(name.value);
    const given = answers[name.value];
    try {
      return { data: await (typeof given === 'function' ? given(operation.variables) : given) };
    } catch (error) {
      return { data: null, errors: [error] };
    }
  }
  const answerExchange = () => (operations) =>
    pipe(
      operations,
      filter(({ kind }) => kind !== 'teardown'),
      mergeMap((operation) => pipe(fromPromise(answer(operation)), map((result) => makeResult(operation, result)))),
    );
  const client = createClient({ url: '/graphql', preferGetMethod: false, exchanges: [newCache(), answerExchange] });

  // show shows the answer to a query, as a page does. It returns a function that returns the present data.
  async function show(query, variables) {
    let data;
    await new Promise((resolve) => client.query(query, variables).subscribe((result) => resolve((data = result.data))));
    return () => data;
  }

  // mutate and receive return once the pages have what follows from the answer.
  async function mutate(mutation, input = {}) {
    const result = await client.mutation(mutation, { input });
    await settle();
    return result;
  }
  async function receive(subscription, variables) {
    await pipe(client.subscription(subscription, variables), take(1), toPromise);
    await settle();
  }
  return { client, answers, requests, show, mutate, receive };
}

const author = { __typename: 'User', id: 'u_1', username: 'anna' };
const post = (fields) => ({
  __typename: 'Post',
  id: 'p_1',
  title: 'A post',
  excerpt: 'Its text',
  content: 'Its text.',
  contentLength: 9,
  version: 1,
  author,
  tags: [],
  creationDate: '2026-01-01T00:00:00Z',
  updatedDate: null,
  commentCount: 0,
  likeCount: 0,
  recentComments: [],
  ...fields,
});

// comment is the nth comment, of a minute.
const comment = (n, minute = n) => ({
  __typename: 'Comment',
  id: `c_${n}`,
  content: `Comment ${n}`,
  excerpt: `Comment ${n}`,
  author,
  creationDate: `2026-01-01T00:0${minute}:00Z`,
  updatedDate: null,
});
const pageInfo = (hasNextPage) => ({ __typename: 'PageInfo', hasNextPage, startCursor: 'start', endCursor: 'end' });
const commentsOf = (numbers, hasNextPage = false) => ({
  __typename: 'CommentConnection',
  edges: numbers.map((n) => ({ __typename: 'CommentEdge', node: comment(n) })),
  pageInfo: pageInfo(hasNextPage),
});
const postsOf = (...posts) => ({
  __typename: 'PostConnection',
  edges: posts.map((node) => ({ __typename: 'PostEdge', node })),
  pageInfo: pageInfo(false),
});

// openPost shows a post with a page of comments.
async function openPost(numbers, hasNextPage) {
  const blog = openBlog({
    Post: { post: post({ comments: commentsOf(numbers, hasNextPage) }) },
    CreateComment: ({ input }) => ({
      createComment: { __typename: 'CreateCommentPayload', comment: comment(input.n), post: post({ commentCount: 9 }) },
    }),
    DeleteComment: ({ input }) => ({
      deleteComment: {
        __typename: 'DeleteCommentPayload',
        comment: { __typename: 'Comment', id: input.id },
        post: post({ commentCount: 1 }),
      },
    }),
  });
  const data = await blog.show(gql.PostDocument, { id: 'p_1' });
  return {
    ...blog,
    post: () => data().post,
    listed: () => data().post.comments.edges.map(({ node }) => node.id),
    create: (n) => blog.mutate(gql.CreateCommentDocument, { n }),
    remove: (n) => blog.mutate(gql.DeleteCommentDocument, { id: `c_${n}` }),
    hear(n, { minute, postId = 'p_1' } = {}) {
      const node = comment(n, minute);
      blog.answers.CommentAdded = { commentAdded: { __typename: 'CommentEdge', cursor: `cursor ${n}`, node } };
      return blog.receive(gql.CommentAddedDocument, { postId });
    },
  };
}

test('a comment is listed once, in whichever order it arrives twice', async () => {
  const page = await openPost([1]);
  await page.create(2);
  assert.deepEqual(page.listed(), ['c_2', 'c_1']);
  await page.hear(2);
  assert.deepEqual(page.listed(), ['c_2', 'c_1']);
  await page.hear(3);
  await page.create(3);
  assert.deepEqual(page.listed(), ['c_3', 'c_2', 'c_1']);
  assert.equal(page.post().commentCount, 9);
  assert.deepEqual(page.requests, ['Post', 'CreateComment', 'CommentAdded', 'CommentAdded', 'CreateComment']);
});

test('comments are listed newest first, also if they arrive late', async () => {
  const page = await openPost([5, 3]);
  await page.hear(4);
  await page.hear(6);
  await page.hear(1); // the list is complete, so this one is its last
  await page.hear(7, { minute: 6 });
  assert.deepEqual(page.listed(), ['c_7', 'c_6', 'c_5', 'c_4', 'c_3', 'c_1']);
});

test('a comment that is older than the loaded page is not listed', async () => {
  const page = await openPost([5, 4], true);
  await page.hear(1);
  assert.deepEqual(page.listed(), ['c_5', 'c_4']);
  await page.hear(6);
  assert.deepEqual(page.listed(), ['c_6', 'c_5', 'c_4']);
});

test('a comment of a later page is not listed on the first one', async () => {
  const page = await openPost([5, 4], true);
  page.answers.CommentPage = { post: { __typename: 'Post', id: 'p_1', comments: commentsOf([3, 2]) } };
  await page.show(gql.CommentPageDocument, { id: 'p_1', after: 'end' });
  await page.hear(3, { minute: 4 }); // as old as the last one of the first page
  await page.create(2);
  assert.deepEqual(page.listed(), ['c_5', 'c_4']);
});

test('the cursor is that of the comment that arrived last', async () => {
  const page = await openPost([1]);
  await page.create(2); // an answer to a mutation has no cursor
  assert.equal(page.post().comments.pageInfo.startCursor, 'start');
  await page.hear(2);
  assert.equal(page.post().comments.pageInfo.startCursor, 'cursor 2');
});

test('a comment of a post that was not read changes nothing', async () => {
  const page = await openPost([1]);
  await page.hear(2, { postId: 'p_2' });
  assert.deepEqual(page.listed(), ['c_1']);
});

test('a deleted comment leaves every page of its list', async () => {
  const page = await openPost([5, 4], true);
  page.answers.CommentPage = { post: { __typename: 'Post', id: 'p_1', comments: commentsOf([3, 2]) } };
  const next = await page.show(gql.CommentPageDocument, { id: 'p_1', after: 'end' });
  await page.remove(4);
  await page.remove(3);
  assert.deepEqual(page.listed(), ['c_5']);
  assert.deepEqual(next().post.comments.edges.map(({ node }) => node.id), ['c_2']);
  assert.equal(page.post().commentCount, 1);
  assert.deepEqual(page.requests.slice(2), ['DeleteComment', 'DeleteComment']); // nothing is read again
});

test('a deleted comment is gone where a link leads to it', async () => {
  const page = await openPost([1]);
  page.answers.LinkedComment = { node: { ...comment(1), post: { __typename: 'Post', id: 'p_1' } } };
  const linked = await page.show(gql.LinkedCommentDocument, { id: 'c_1' });
  page.answers.LinkedComment = { node: null };
  await page.remove(1);
  assert.equal(linked().node, null);
});

test('a refused mutation changes no list', async () => {
  const page = await openPost([1]);
  page.answers.CreateComment = { createComment: null };
  page.answers.DeleteComment = { deleteComment: null };
  await page.create(2);
  await page.remove(1);
  assert.deepEqual(page.listed(), ['c_1']);
});

// openLikes shows a post and whether the viewer likes it. answer answers the mutation that runs.
async function openLikes(likeCount, viewerHasLiked) {
  const pending = () => new Promise((resolve, reject) => Object.assign(page, { answer: resolve, refuse: reject }));
  const blog = openBlog({
    Post: { post: post({ likeCount, comments: commentsOf([]) }) },
    ViewerHasLiked: { post: { __typename: 'Post', id: 'p_1', viewerHasLiked } },
    LikePost: pending,
    UnlikePost: pending,
  });
  const data = await blog.show(gql.PostDocument, { id: 'p_1' });
  const viewer = await blog.show(gql.ViewerHasLikedDocument, { id: 'p_1' });
  const page = {
    like: () => blog.mutate(gql.LikePostDocument, { postId: 'p_1' }),
    unlike: () => blog.mutate(gql.UnlikePostDocument, { postId: 'p_1' }),
    async likes() {
      await settle();
      return [data().post.likeCount, viewer().post.viewerHasLiked];
    },
  };
  return page;
}
const likes = (likeCount, viewerHasLiked) => ({ post: { ...post({ likeCount }), viewerHasLiked } });

test('a like is shown before its answer, which may have others', async () => {
  const page = await openLikes(4, false);
  const answered = page.like();
  assert.deepEqual(await page.likes(), [5, true]);
  page.answer({ likePost: { __typename: 'LikePostPayload', ...likes(7, true) } });
  await answered;
  assert.deepEqual(await page.likes(), [7, true]);
});

test('a like that is taken back is shown before its answer', async () => {
  const page = await openLikes(4, true);
  const answered = page.unlike();
  assert.deepEqual(await page.likes(), [3, false]);
  page.answer({ unlikePost: { __typename: 'UnlikePostPayload', ...likes(3, false) } });
  await answered;
  assert.deepEqual(await page.likes(), [3, false]);
});

test('a like that the server refuses is taken back', async () => {
  const page = await openLikes(4, false);
  const answered = page.like();
  assert.deepEqual(await page.likes(), [5, true]);
  page.refuse({ message: 'busy', extensions: { code: 'OVERLOADED' } });
  assert.ok((await answered).error instanceof CombinedError);
  assert.deepEqual(await page.likes(), [4, false]);
});

// openLists shows all kinds of lists of posts. readAgain returns those that a reader who comes back to
// them reads again, because the cache has forgotten them.
async function openLists() {
  const month = { __typename: 'ArchiveMonth', month: '2026-01', postCount: 1 };
  const tag = { __typename: 'Tag', name: 'go', postCount: 1 };
  const blog = openBlog({
    Feed: { feed: postsOf(post()) },
    Tag: { tag: { ...tag, posts: postsOf(post()) } },
    User: { user: { ...author, creationDate: post().creationDate, postCount: 1, posts: postsOf(post()) } },
    Month: { archive: { ...month, posts: postsOf(post()) } },
    Archive: ({ isFirst }) =>
      isFirst ? { archiveMonths: [month], tags: [tag] } : { archiveMonths: [{ ...month, month: '2025-12' }] },
    Post: { post: post({ comments: commentsOf([]) }) },
    CreatePost: { createPost: { __typename: 'CreatePostPayload', post: post({ id: 'p_2' }) } },
    UpdatePost: { updatePost: { __typename: 'UpdatePostPayload', post: post({ title: 'Edited', version: 2 }) } },
    DeletePost: { deletePost: { __typename: 'DeletePostPayload', post: { __typename: 'Post', id: 'p_1' } } },
  });
  const lists = [
    [gql.FeedDocument, {}],
    [gql.TagDocument, { name: 'go', isFirst: true }],
    [gql.UserDocument, { id: 'u_1' }],
    [gql.MonthDocument, { month: '2026-01', isFirst: true }],
    [gql.ArchiveDocument, { isFirst: true }],
    [gql.ArchiveDocument, { isFirst: false, before: '2026-01' }],
    [gql.PostDocument, { id: 'p_1' }],
  ];
  const readAll = async () => {
    for (const [query, variables] of lists) await blog.client.query(query, variables);
  };
  await readAll();
  async function readAgain() {
    blog.requests.length = 0;
    await readAll();
    return [...blog.requests];
  }
  assert.deepEqual(await readAgain(), []);
  return { ...blog, readAgain };
}
const allLists = ['Feed', 'Tag', 'User', 'Month', 'Archive', 'Archive'];

for (const name of ['CreatePost', 'UpdatePost', 'DeletePost']) {
  test(`after ${name}, all lists of posts are read again`, async () => {
    const blog = await openLists();
    await blog.mutate(gql[`${name}Document`]);
    assert.deepEqual(await blog.readAgain(), name === 'DeletePost' ? [...allLists, 'Post'] : allLists);
    assert.deepEqual(await blog.readAgain(), []);
  });
}

test('the lists are read again after a deletion whose first answer was lost', async () => {
  const blog = await openLists();
  blog.answers.DeletePost = { deletePost: null };
  await blog.mutate(gql.DeletePostDocument);
  assert.deepEqual(await blog.readAgain(), allLists);
});

test('a tag and a month are the same in all places', async () => {
  const blog = await openLists();
  const archive = await blog.show(gql.ArchiveDocument, { isFirst: true });
  const { Tag, Month } = blog.answers;
  blog.answers.Tag = { tag: { ...Tag.tag, postCount: 2 } };
  blog.answers.Month = { archive: { ...Month.archive, postCount: 3 } };
  const again = { requestPolicy: 'network-only' };
  await blog.client.query(gql.TagDocument, { name: 'go', isFirst: true }, again);
  await blog.client.query(gql.MonthDocument, { month: '2026-01', isFirst: true }, again);
  await settle();
  assert.deepEqual([archive().tags[0].postCount, archive().archiveMonths[0].postCount], [2, 3]);
});

test('an edited post is shown without another request', async () => {
  const blog = await openLists();
  const shown = await blog.show(gql.PostDocument, { id: 'p_1' });
  await blog.mutate(gql.UpdatePostDocument);
  assert.equal(shown().post.title, 'Edited');
});

test('a post that others delete is read again', async () => {
  const page = await openPost([1]);
  page.answers.PostChanged = { postChanged: null };
  page.answers.Post = { post: null };
  await page.receive(gql.PostChangedDocument, { id: 'p_1' });
  assert.equal(page.post(), null);
  assert.deepEqual(page.requests, ['Post', 'PostChanged', 'Post']);
});

test('a post that others change is not read again', async () => {
  const page = await openPost([1]);
  page.answers.PostChanged = { postChanged: post({ likeCount: 3, viewerHasLiked: false }) };
  await page.receive(gql.PostChangedDocument, { id: 'p_1' });
  assert.equal(page.post().likeCount, 3);
  assert.deepEqual(page.requests, ['Post', 'PostChanged']);
});

test('a post that the cache has from elsewhere is not read', async () => {
  const blog = await openLists();
  await blog.mutate(gql.CreatePostDocument);
  blog.requests.length = 0;
  const { data } = await blog.client.query(gql.EditedPostDocument, { id: 'p_2' });
  assert.equal(data.post.content, 'Its text.');
  assert.deepEqual(blog.requests, []);
});

test('a post that the server does not have is asked for once', async () => {
  const blog = openBlog({ Post: { post: null } });
  for (const _ of [1, 2]) assert.equal((await blog.client.query(gql.PostDocument, { id: 'p_9' })).data.post, null);
  assert.deepEqual(blog.requests, ['Post']);
});

test('the viewer is there after createUser', async () => {
  const blog = openBlog({
    Viewer: { viewer: null },
    CreateUser: { createUser: { __typename: 'CreateUserPayload', user: author } },
  });
  const data = await blog.show(gql.ViewerDocument, {});
  assert.equal(data().viewer, null);
  await blog.mutate(gql.CreateUserDocument, { username: 'anna' });
  assert.equal(data().viewer.username, 'anna');
  assert.deepEqual(blog.requests, ['Viewer', 'CreateUser']);
});

test('a name that was refused makes no viewer', async () => {
  const blog = openBlog({ Viewer: { viewer: null }, CreateUser: { createUser: null } });
  const data = await blog.show(gql.ViewerDocument, {});
  await blog.mutate(gql.CreateUserDocument, { username: 'anna' });
  assert.equal(data().viewer, null);
});
