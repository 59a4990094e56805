// Readers see what they have written: at once, under their new name, and on any server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inView, nameOf, newFolder, open, serve, start } from './harness.mjs';

const url = await serve({ users: 3 });

// Each test has names of its own.
let names = 0;
const newName = () => `author-${++names}`;
const thisMonth = () => new Date().toISOString().slice(0, 7);

async function signIn(page, name) {
  await page.goto(new URL('/sign-in', page.url()).href);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name }).waitFor();
}

async function publish(page, title, tags = '') {
  await page.getByRole('link', { name: 'Write' }).click();
  await page.getByRole('heading', { level: 1, name: 'New post' }).waitFor(); // an empty blog has a form for a post too
  await page.getByLabel('Title').fill(title);
  await page.getByRole('textbox', { name: 'Text' }).fill('A text.');
  await page.getByRole('textbox', { name: 'Tags' }).fill(tags);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}

const toFeed = (page) => page.getByRole('link', { name: 'cosmosblog' }).click();
const card = (page, title) => page.getByRole('article').filter({ has: page.getByRole('heading', { level: 2, name: title }) });
const notice = (page) => page.getByText('Your latest change may not be listed yet.');

const isApi = (request) => new URL(request.url()).pathname === '/graphql';

// sentBy returns the tokens that each request of an operation sends from now on, in all tabs.
function sentBy(page, operation) {
  const sent = [];
  page.context().on('request', (request) => {
    if (isApi(request) && nameOf(request) === operation) sent.push(request.headers()['cosmosblog-session']?.split(',') ?? []);
  });
  return sent;
}

// answerOf goes to a place, and returns the first answer to an operation there.
async function answerOf(page, operation, go) {
  const answer = page.waitForResponse((response) => isApi(response.request()) && nameOf(response.request()) === operation);
  await go();
  return (await answer).text();
}

// until waits until a condition holds.
async function until(holds) {
  for (const end = performance.now() + 30_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 50))) {
    assert.ok(performance.now() < end, `still not: ${holds}`);
  }
}

// keptTokens returns the session tokens that the browser keeps.
const keptTokens = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('cosmosblog.written'))?.tokens ?? []);

test('a post is in all its lists, on the first answer after a change', async () => {
  const page = await open(url);
  await signIn(page, newName());
  // The reader has seen all lists before.
  await page.goto(new URL('/tags/shore', url).href);
  await page.getByText('No post has this tag.').waitFor();
  await toFeed(page);
  await page.getByRole('article').first().waitFor();
  await publish(page, 'On the shore', 'shore');
  const byline = page.getByRole('article').getByRole('link', { name: /^author/ });
  const tag = () => page.getByRole('article').first().getByRole('link', { name: 'shore', exact: true }).click();
  const toArchive = () => page.getByRole('banner').getByRole('link', { name: 'Archive' }).click();
  const toMonth = () => page.getByRole('region', { name: 'Months' }).getByRole('link').first().click();

  assert.match(await answerOf(page, 'Feed', () => toFeed(page)), /On the shore/);
  await inView(card(page, 'On the shore').getByRole('heading'));
  assert.match(await answerOf(page, 'Tag', tag), /On the shore/);
  await page.getByText('1 post', { exact: true }).waitFor();
  await card(page, 'On the shore').waitFor();
  assert.match(await answerOf(page, 'User', () => byline.first().click()), /On the shore/);
  await page.getByText('1 post ·').waitFor();
  assert.match(await answerOf(page, 'Archive', toArchive), new RegExp(thisMonth()));
  assert.match(await answerOf(page, 'Month', toMonth), /On the shore/);
  assert.equal(new URL(page.url()).pathname, `/archive/${thisMonth()}`);
  await card(page, 'On the shore').waitFor();

  // The other way back to a list, with the browser's button, also finds it as it is now.
  await card(page, 'On the shore').getByRole('heading').getByRole('link').click();
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Title').fill('On the beach');
  await page.getByRole('textbox', { name: 'Tags' }).fill('beach');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'On the beach' }).waitFor();
  await page.evaluate(() => history.go(-6)); // over the month, the archive and the author, too
  await page.getByRole('heading', { level: 1, name: 'Posts with the tag “shore”' }).waitFor();
  await page.getByText('No post has this tag.').waitFor();
  await toFeed(page);
  await card(page, 'On the beach').getByRole('heading').getByRole('link').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').waitFor();
  assert.doesNotMatch(await answerOf(page, 'Feed', () => page.getByRole('button', { name: 'Delete post' }).click()), /On the (shore|beach)/);
  await page.getByRole('article').first().waitFor();
  assert.equal(await card(page, 'On the beach').count(), 0);
  assert.equal(await notice(page).count(), 0);
  page.check();
});

test('behind a load balancer, a change is in the first answer of another server', async () => {
  const engine = await start('engine', newFolder({ users: 3 }));
  const keys = newFolder();
  // Without a token, a server answers from its memory, which it checks every 5 s.
  const serving = ['--endpoint', engine.url, '--cache-staleness', '20s', '--log-level', 'warn'];
  const [first, second] = [await start('serve', keys, ...serving), await start('serve', keys, ...serving)];
  let server = first;
  const page = await open(first.url);
  await page.context().route('**/graphql', async (route) => {
    const headers = { ...route.request().headers(), origin: server.url };
    await route.fulfill({ response: await route.fetch({ url: `${server.url}/graphql`, headers }) });
  });
  const name = newName();
  await signIn(page, name);
  server = second;
  await toFeed(page);
  await page.getByRole('article').first().waitFor();

  server = first;
  await publish(page, 'Over the hills');
  server = second;
  assert.match(await answerOf(page, 'Feed', () => toFeed(page)), /Over the hills/);
  await card(page, 'Over the hills').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(first.url);
  await card(tab, 'Over the hills').waitFor();

  server = first;
  await page.getByRole('banner').getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Change name' }).click();
  await page.getByLabel('New name').fill('Renamed');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
  server = second;
  await tab.reload();
  await card(tab, 'Over the hills').getByRole('link', { name: 'Renamed' }).waitFor();
  assert.equal(await tab.getByText(name).count(), 0);
  page.check();
});

test('after a rename, every place has the new name before the copies have it', async () => {
  const data = newFolder();
  const name = newName();
  const before = await start('serve', data, '--log-level', 'warn');
  const author = await open(before.url);
  await signIn(author, name);
  await publish(author, 'By somebody renamed', 'names');
  await author.getByLabel('Your comment').fill('So it is.');
  await author.getByRole('button', { name: 'Comment' }).click();
  await author.getByRole('listitem').getByText('So it is.').waitFor();
  await toFeed(author);
  await card(author, 'By somebody renamed').waitFor();
  await author.context().close();
  await before.stop();

  // Without a projector, no copy gets the new name.
  const { url } = await start('serve', data, '--projector=false', '--log-level', 'warn');
  const page = await open(url);
  const live = []; // answers, which have the former name
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => live.push(payload)));
  await signIn(page, name);
  await page.getByRole('banner').getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Change name' }).click();
  await page.getByLabel('New name').fill('Someone-else');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'Someone-else' }).waitFor();
  async function hasNewName(answer, count) {
    assert.doesNotMatch(answer, new RegExp(name));
    await page.getByRole('main').getByRole('link', { name: 'Someone-else' }).nth(count - 1).waitFor();
    await page.getByRole('banner').getByRole('link', { name: 'Someone-else' }).waitFor();
    assert.equal(await page.getByText(name).count(), 0);
  }
  const inCard = (link) => () => card(page, 'By somebody renamed').getByRole('link', { name: link, exact: true }).click();
  await hasNewName(await answerOf(page, 'Feed', () => toFeed(page)), 2);
  const post = await answerOf(page, 'Post', inCard('By somebody renamed'));
  await until(() => live.some((answer) => answer.includes(`"username":"${name}"`)));
  await hasNewName(post, 2);
  await hasNewName(await answerOf(page, 'Feed', () => page.goto(url)), 2);
  await hasNewName(await answerOf(page, 'Tag', inCard('names')), 2);
  page.check();
});

test('a change that lists do not have yet: a notice, until they have it', async () => {
  const data = newFolder();
  const { url } = await start('serve', data, '--projector=false', '--log-level', 'warn');
  const page = await open(url, { viewport: { width: 390, height: 844 } });
  await page.getByLabel('Your name').fill(newName());
  await page.getByLabel('Title').fill('Not listed yet');
  await page.getByRole('button', { name: 'Sign in and publish' }).click();
  await page.getByRole('heading', { level: 1, name: 'Not listed yet' }).waitFor();
  const byline = page.getByRole('article').getByRole('link', { name: /^author/ }).first();
  const path = await byline.getAttribute('href');
  const feed = sentBy(page, 'Feed');
  for (const place of [path, '/tags/hello', `/archive/${thisMonth()}`, '/archive', '/']) {
    await page.goto(new URL(place, url).href);
    await inView(notice(page));
    assert.equal(await page.getByText(/has no posts|has this tag|not written|not published|blog is empty/).count(), 0);
    await page.axe();
  }
  page.check();

  // The page loads the list again once by itself.
  await until(() => feed.length === 2);
  await page.waitForTimeout(1500);
  assert.equal(feed.length, 2);
  await inView(notice(page));

  // Once a projector runs, the post is there.
  await start('projector', data, '--log-level', 'warn');
  await until(async () => {
    await page.evaluate(() => document.querySelector('[role=status] button')?.click());
    return (await notice(page).count()) === 0;
  });
  await card(page, 'Not listed yet').waitFor();
  page.check();
});

// together holds the requests of some operations back until there are n, and answers them in order.
async function together(page, n, operations, answer = (route) => route.continue()) {
  const held = [];
  await page.context().route('**/graphql', async (route) => {
    if (!operations.includes(nameOf(route.request()))) return route.continue();
    if (held.push(route) === n) for (const [i, each] of held.entries()) await answer(each, i);
  });
}

async function likeAndComment(page) {
  await page.getByLabel('Your comment').fill('Both at once.');
  await page.getByRole('button', { name: '0 likes' }).click();
  await page.getByRole('button', { name: 'Comment' }).click();
  await page.getByRole('listitem').getByText('Both at once.').waitFor();
  await page.getByRole('button', { name: '1 like' }).waitFor();
}

test('all tabs send the tokens of all mutations, until the account signs out', async () => {
  const page = await open(url);
  const feed = sentBy(page, 'Feed');
  const name = newName();
  await signIn(page, name);
  await publish(page, 'A post with tokens');
  const tokens = await keptTokens(page);
  assert.equal(tokens.length, 1, 'the token of createPost includes that of createUser');
  await toFeed(page);
  await card(page, 'A post with tokens').getByRole('heading').getByRole('link').click();
  assert.deepEqual(feed.at(-1), tokens);

  // Neither of two mutations at the same time includes the other. The next one includes both.
  await together(page, 2, ['LikePost', 'CreateComment']);
  await likeAndComment(page);
  const both = await keptTokens(page);
  assert.equal(both.length, 2);
  assert.ok(!both.includes(tokens[0]));
  const tab = await page.context().newPage();
  await tab.goto(url);
  await card(tab, 'A post with tokens').getByText('1 comment', { exact: true }).waitFor();
  assert.deepEqual(feed.at(-1), both);
  await card(tab, 'A post with tokens').getByRole('heading').getByRole('link').click();
  await tab.getByRole('button', { name: '1 like' }).click();
  await tab.getByRole('button', { name: '0 likes' }).waitFor();
  await until(async () => (await keptTokens(page)).length === 1);
  assert.ok(!both.includes((await keptTokens(page))[0]));

  await tab.getByRole('banner').getByRole('link', { name }).click();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await keptTokens(page), []);
  await toFeed(page);
  await card(page, 'A post with tokens').waitFor();
  assert.deepEqual(feed.at(-1), []);
  page.check();
});

test('tokens that are together too long: the newest one is kept', async () => {
  const page = await open(url);
  await signIn(page, newName());
  await publish(page, 'A post with long tokens');
  const long = ['a'.repeat(3000), 'b'.repeat(3000)];
  await together(page, 2, ['LikePost', 'CreateComment'], async (route, i) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), 'cosmosblog-session': long[i] } });
    await until(async () => (await keptTokens(page)).at(-1) === long[i]);
  });
  await likeAndComment(page);
  assert.deepEqual(await keptTokens(page), [long[1]]);
  page.check();
});

test('a token that the server refuses is forgotten, and the request sent again once', async () => {
  const page = await open(url);
  const name = newName();
  await signIn(page, name);
  const sent = sentBy(page, 'CreatePost');
  await page.getByRole('link', { name: 'Write' }).click();
  await page.evaluate((name) => localStorage.setItem('cosmosblog.written', JSON.stringify({ name, tokens: ['of-before'] })), name);
  await page.getByLabel('Title').fill('After an upgrade');
  await page.getByRole('textbox', { name: 'Text' }).fill('A text.');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: 'After an upgrade' }).waitFor();
  assert.deepEqual(sent, [['of-before'], []]);
  const kept = await keptTokens(page);
  assert.ok(kept.length === 1 && kept[0] !== 'of-before', kept.join());
  assert.match(page.broken.splice(0).join(), /^console: [^,]*status of 400[^,]*$/); // once
});
