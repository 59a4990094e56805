// What others do arrives without a reload.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inView, newFolder, open, operationNameOf, serve, start } from './harness.mjs';

const url = await serve({ users: 3 });
const quiet = ['--log-level', 'error'];

// openAs opens a page in a browser of its own, signed in with a name.
async function openAs(name, at = url) {
  const page = await open(new URL('/sign-in', at).href);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name }).waitFor();
  return page;
}

async function publish(page, title, content = 'A text.') {
  await page.goto(new URL('/write', page.url()).href);
  await page.getByLabel('Title').fill(title);
  await page.getByRole('textbox', { name: 'Text' }).fill(content);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}

// follow shows the post of a page in another page, whose marker tells that it was never loaded again.
async function follow(page, other) {
  await other.goto(page.url());
  await other.getByRole('heading', { name: 'Comments' }).waitFor();
  await other.evaluate(() => (window.isSame = true));
}

const isSame = (page) => page.evaluate(() => window.isSame === true);

const likes = (page, count) => page.getByRole('button', { name: count, exact: true });
const comment = (page, text) => page.getByRole('listitem').filter({ has: page.getByText(text, { exact: true }) });
const comments = (page) => page.locator('section[aria-labelledby=comments] li').allInnerTexts();

async function say(page, text) {
  await page.getByLabel('Your comment').fill(text);
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await comment(page, text).waitFor();
}

const idOf = (page) => new URL(page.url()).pathname.split('/')[2];
const sessionOf = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('cosmosblog.session')));

// ask sends an operation to a server.
async function ask(server, token, query) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
  const answer = await fetch(`${server}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  assert.equal((await answer.json()).errors, undefined);
}

// tokens returns a function that waits for the next socket of a page, and returns its token.
function tokens(page) {
  const found = [];
  let wake;
  page.on('websocket', (socket) =>
    socket.once('framesent', ({ payload }) => {
      found.push(JSON.parse(payload).payload?.Authorization);
      wake?.();
    }),
  );
  return {
    async next() {
      while (found.length === 0) await new Promise((resolve) => (wake = resolve));
      return found.shift();
    },
  };
}

// arrivals returns the comments that arrive at a page, in order.
function arrivals(page) {
  const texts = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const added = JSON.parse(payload).payload?.data?.commentAdded;
      if (added) texts.push(added.node.content);
    }),
  );
  return texts;
}

// show tells a page that it can be seen, or that another tab covers it.
const show = (page, isVisible) =>
  page.evaluate((isVisible) => {
    Object.defineProperty(document, 'hidden', { value: !isVisible, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isVisible);

test('likes, comments, edits and the deletion of a post arrive in another window', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'Seen by two');
  const bea = await openAs('bea');
  await follow(anna, bea);

  await bea.getByRole('button', { name: '0 likes' }).click();
  await likes(anna, '1 like').waitFor();
  await anna.getByRole('button', { name: '1 like' }).click();
  await likes(bea, '2 likes').waitFor();
  assert.equal(await likes(bea, '2 likes').getAttribute('aria-pressed'), 'true');

  await say(bea, 'A question.');
  await inView(anna.getByText('bea has commented.'));
  await comment(anna, 'A question.').waitFor();
  await say(anna, 'An answer.');
  await comment(bea, 'An answer.').waitFor();
  await say(bea, 'Thanks.');
  await comment(anna, 'Thanks.').waitFor();
  for (const page of [anna, bea]) {
    await page.getByRole('heading', { name: 'Comments 3' }).waitFor();
    const texts = (await comments(page)).map((text) => text.match(/A question|An answer|Thanks/)[0]);
    assert.deepEqual(texts, ['Thanks', 'An answer', 'A question']); // each once, newest first
    await page.axe();
  }

  const author = await anna.context().newPage();
  await author.goto(`${anna.url()}/edit`);
  await author.getByLabel('Title').fill('Edited');
  await author.getByRole('textbox', { name: 'Text' }).fill('A better text.');
  await author.getByRole('button', { name: 'Save' }).click();
  for (const page of [anna, bea]) {
    await page.getByRole('heading', { level: 1, name: 'Edited' }).waitFor();
    await page.getByText('A better text.').waitFor();
  }

  await comment(anna, 'Thanks.').getByRole('button', { name: 'Delete' }).click();
  await anna.getByRole('button', { name: 'Delete comment' }).click();
  await comment(bea, 'Thanks.').waitFor({ state: 'detached' });
  await anna.getByRole('article').first().getByRole('button', { name: 'Delete' }).click();
  await anna.getByRole('button', { name: 'Delete post' }).click();
  await inView(bea.getByRole('heading', { name: 'This post was deleted' }));
  await bea.axe();
  assert.ok(await isSame(bea));
  anna.check();
  bea.check();
});

test('after the server was killed, comments written meanwhile arrive', async () => {
  const folder = newFolder();
  const server = await start('serve', folder, ...quiet);
  const anna = await openAs('anna', server.url);
  await publish(anna, 'Before and after');
  const bea = await openAs('bea', server.url);
  const arrived = arrivals(bea);
  await follow(anna, bea);
  await say(anna, 'Before.');
  await comment(bea, 'Before.').waitFor();

  const { token } = await sessionOf(anna);
  await server.kill();
  const elsewhere = await start('serve', folder, ...quiet); // both pages wait at the address of the first
  const input = `{ postId: "${idOf(anna)}", content: "Meanwhile." }`;
  await ask(elsewhere.url, token, `mutation { createComment(input: ${input}) { comment { id } } }`);
  await elsewhere.stop();
  const again = await start('serve', folder, ...quiet, '--addr', new URL(server.url).host);
  await comment(bea, 'Meanwhile.').waitFor();
  await say(bea, 'After.');
  await comment(anna, 'After.').waitFor();
  for (const page of [anna, bea]) {
    const texts = (await comments(page)).map((text) => text.match(/Before|Meanwhile|After/)[0]);
    assert.deepEqual(texts, ['After', 'Meanwhile', 'Before']);
    assert.ok(page === anna || (await isSame(page)));
  }
  assert.deepEqual(arrived.slice(0, 2), ['Before.', 'Meanwhile.']); // each once
  await again.stop();
});

test('a socket belongs to the account that is signed in, also after a sign-out in another tab', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'Two tabs');
  const bea = await openAs('bea');
  await follow(anna, bea);
  const [tab, signedIn] = [await bea.context().newPage(), tokens(bea)];
  await bea.reload();
  assert.match(await signedIn.next(), /^Bearer ey/);

  await tab.goto(url);
  await tab.getByRole('banner').getByRole('link', { name: 'bea' }).click();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await bea.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  assert.equal(await signedIn.next(), undefined);
  await anna.getByRole('button', { name: '0 likes' }).click();
  await likes(bea, '1 like').waitFor();

  await tab.goto(new URL('/sign-in', url).href);
  await tab.getByLabel('Your name').fill('carl');
  await tab.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await bea.getByRole('banner').getByRole('link', { name: 'carl' }).waitFor();
  assert.match(await signedIn.next(), /^Bearer ey/);
  await say(anna, 'Hello, Carl.');
  await comment(bea, 'Hello, Carl.').waitFor();
  bea.check();
});

test('eight tabs of a browser are live', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'Eight tabs');
  const bea = await openAs('bea');
  await follow(anna, bea);
  const tabs = [bea];
  while (tabs.length < 8) {
    const tab = await bea.context().newPage();
    await follow(anna, tab);
    tabs.push(tab);
  }
  await anna.getByRole('button', { name: '0 likes' }).click();
  for (const tab of tabs) await likes(tab, '1 like').waitFor();
});

test('a tab that is hidden for a while closes its socket, and shows what it missed when it is seen', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'Out of sight');
  const bea = await openAs('bea');
  await bea.clock.install();
  const arrived = arrivals(bea);
  let socket; // the newest one: the page that signed in may open one, too
  bea.on('websocket', (opened) => (socket = opened));
  await follow(anna, bea);
  await say(anna, 'Before.');
  await comment(bea, 'Before.').waitFor(); // arrives by the socket

  const closes = socket.waitForEvent('close');
  await show(bea, false);
  await bea.clock.fastForward(31_000);
  await closes;
  await say(anna, 'Meanwhile.');
  await anna.getByRole('button', { name: '0 likes' }).click();
  await likes(anna, '1 like').waitFor();
  assert.equal(await comment(bea, 'Meanwhile.').count(), 0);
  await show(bea, true);
  await comment(bea, 'Meanwhile.').waitFor();
  await likes(bea, '1 like').waitFor();
  assert.deepEqual(arrived, ['Before.', 'Meanwhile.']); // each once
  assert.ok(await isSame(bea));
  bea.check();
});

test('new posts wait behind a button, so that nothing moves', async () => {
  const anna = await openAs('anna');
  const bea = await openAs('bea');
  await bea.goto(url);
  const cards = bea.getByRole('article');
  await cards.nth(3).waitFor();
  await cards.nth(3).scrollIntoViewIfNeeded();
  const { y } = await cards.nth(3).boundingBox();
  for (const [title, name] of [['News', '1 new post'], ['More news', '2 new posts']]) {
    await publish(anna, title);
    await inView(bea.getByRole('button', { name }));
  }
  assert.equal((await cards.nth(3).boundingBox()).y, y);
  await bea.axe();
  await bea.getByRole('button', { name: '2 new posts' }).click();
  await inView(bea.getByRole('link', { name: 'More news' }));
  const titles = await cards.getByRole('heading').allInnerTexts();
  assert.deepEqual(titles.slice(0, 2), ['More news', 'News']);
  await bea.getByRole('button', { name: 'new post' }).waitFor({ state: 'detached' });
  assert.equal(await bea.evaluate(() => document.activeElement.textContent), 'Recent posts');
  bea.check();
});

test('the first post of an empty blog arrives', async () => {
  const empty = await serve();
  const bea = await open(empty);
  await bea.getByRole('heading', { name: 'Your blog is empty' }).waitFor();
  const anna = await openAs('anna', empty);
  await publish(anna, 'The first post');
  await bea.getByRole('button', { name: '1 new post' }).click();
  await inView(bea.getByRole('link', { name: 'The first post' }));
  bea.check();
});

test('a connection that went silent is replaced', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'Silence');
  const bea = await openAs('bea');
  await bea.clock.install();
  let silent; // the socket whose messages are lost
  const sockets = [];
  await bea.routeWebSocket('**/graphql', (socket) => {
    const server = socket.connectToServer();
    sockets.push(socket);
    server.onMessage((message) => socket !== silent && socket.send(message));
    socket.onMessage((message) => socket !== silent && server.send(message));
  });
  await follow(anna, bea);
  await say(anna, 'Before.');
  await comment(bea, 'Before.').waitFor();
  silent = sockets.at(-1);
  await say(anna, 'Into the silence.');
  await bea.clock.fastForward(12_000); // it asks for a sign
  await bea.clock.fastForward(5_000);
  await comment(bea, 'Into the silence.').waitFor();
  assert.notEqual(sockets.at(-1), silent);
  assert.ok(await isSame(bea));
});

test('a subscription that the server has no place for begins later', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'A busy server');
  const bea = await openAs('bea');
  await bea.clock.install();
  const refused = [];
  await bea.routeWebSocket('**/graphql', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const { id, type } = JSON.parse(message);
      if (type !== 'subscribe' || refused.length === 2) return server.send(message);
      refused.push(id);
      const payload = [{ message: 'Too many subscriptions.', extensions: { code: 'LIMIT_EXCEEDED' } }];
      socket.send(JSON.stringify({ id, type: 'error', payload }));
    });
  });
  await follow(anna, bea);
  await say(anna, 'Is it full?');
  assert.equal(await comment(bea, 'Is it full?').count(), 0);
  await bea.clock.fastForward(31_000);
  await comment(bea, 'Is it full?').waitFor();
  bea.check();
});

test('the first comment arrives if it was written before the page began to wait', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'In between');
  const bea = await openAs('bea');
  let begin;
  const isWritten = new Promise((resolve) => (begin = resolve));
  await bea.routeWebSocket('**/graphql', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage(async (message) => {
      const { type, payload } = JSON.parse(message);
      const isSubscription = type === 'subscribe';
      if (isSubscription && operationNameOf(payload.documentId) === 'PostChanged') return; // it has the number of comments
      if (isSubscription) await isWritten;
      server.send(message);
    });
  });
  await follow(anna, bea);
  await say(anna, 'The first one.');
  begin();
  await comment(bea, 'The first one.').waitFor();
  await bea.getByRole('heading', { name: 'Comments 1' }).waitFor();
  assert.ok(await isSame(bea));
  bea.check();
});

test('new comments do not move what is being read', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'A long talk');
  const { token } = await sessionOf(anna);
  for (let n = 1; n <= 15; n++) {
    const input = `{ postId: "${idOf(anna)}", content: "Comment ${n}." }`;
    await ask(url, token, `mutation { createComment(input: ${input}) { comment { id } } }`);
  }
  const bea = await openAs('bea');
  await follow(anna, bea);
  const read = comment(bea, 'Comment 3.');
  await read.scrollIntoViewIfNeeded();
  await bea.getByRole('heading', { name: 'Comments 15' }).evaluate((heading) => {
    if (heading.getBoundingClientRect().bottom > 0) throw new Error('the beginning of the list is in view');
  });
  const { y } = await read.boundingBox();
  await say(anna, 'One more.');
  await comment(bea, 'One more.').waitFor({ state: 'attached' });
  await inView(bea.getByText('anna has commented.'));
  assert.ok(Math.abs((await read.boundingBox()).y - y) < 1);
});

test('behind a proxy without WebSockets, the page works as before', async () => {
  const anna = await openAs('anna');
  await publish(anna, 'Behind a proxy');
  const bea = await openAs('bea');
  await bea.routeWebSocket('**/graphql', (socket) => socket.close({ code: 1006 }));
  await follow(anna, bea);
  await bea.getByRole('button', { name: '0 likes' }).click();
  await likes(bea, '1 like').waitFor();
  await say(anna, 'Does it work?');
  await say(bea, 'It works.');
  await bea.getByRole('heading', { name: 'Comments 2' }).waitFor();
  await comment(bea, 'Does it work?').waitFor(); // its number has shown that it is missing
  assert.equal((await comments(bea)).length, 2);
  bea.check();
});
