// A day of two people, who are in two browsers at once. Each test goes on with the blog of the one before.
// .ci/long runs it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inView, newFolder, open, start } from './harness.mjs';

const folder = newFolder();
const quiet = ['--log-level', 'error'];
let server = await start('serve', folder, ...quiet);
const { url } = server;
const at = (path) => new URL(path, url).href;
let first; // the path of the post that the day begins with

// openAs opens a path in a browser of its own, signed in with a name. The marker of the page tells that it
// was never loaded again.
async function openAs(name, path = '/', options = {}) {
  const page = await open(at('/sign-in'), options);
  await signIn(page, name);
  await page.goto(at(path));
  await page.getByRole('banner').getByRole('link', { name: 'Write' }).waitFor();
  await page.evaluate(() => (window.isSame = true));
  return page;
}

async function signIn(page, name) {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'Write' }).waitFor();
}

const isSame = (page) => page.evaluate(() => window.isSame === true);
const likes = (page, count) => page.getByRole('button', { name: count, exact: true });
const comment = (page, text) => page.getByRole('listitem').filter({ has: page.getByText(text, { exact: true }) });
const commentField = (page) => page.getByLabel('Your comment');
const publishComment = (page) => page.getByRole('button', { name: 'Comment', exact: true }).click();
const fault = (page) => page.getByRole('alert');
const link = (page, name) => page.getByRole('banner').getByRole('link', { name });
const heading = (page, name) => page.getByRole('heading', { level: 1, name });

async function say(page, text) {
  await commentField(page).fill(text);
  await publishComment(page);
  await comment(page, text).waitFor();
}

// ask sends a mutation with its input to a server, as the user of a page.
async function ask(page, mutation, input, to = url) {
  const { token } = await page.evaluate(() => JSON.parse(localStorage.getItem('cosmosblog.session')));
  const type = `${mutation[0].toUpperCase()}${mutation.slice(1)}Input!`;
  const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { __typename } }`;
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
  const response = await fetch(`${to}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables: { input } }) });
  assert.equal((await response.json()).errors, undefined);
}

const postId = () => first.split('/')[2];

test('in the morning, the first post arrives in the other window, and is talked about in both', async () => {
  const bea = await openAs('bea', '/', { reducedMotion: 'reduce' });
  await heading(bea, 'Your blog is empty').waitFor();
  await bea.axe();
  const anna = await open(url);
  await anna.axe();
  await anna.getByLabel('Title').fill('Good morning');
  await anna.getByRole('textbox', { name: 'Text' }).fill('It is early.');
  await anna.getByLabel('Your name').fill('anna');
  await anna.getByRole('button', { name: 'Sign in and publish' }).click();
  await heading(anna, 'Good morning').waitFor();
  await anna.evaluate(() => (window.isSame = true));
  first = new URL(anna.url()).pathname;

  await bea.getByRole('button', { name: '1 new post' }).click();
  await inView(bea.getByRole('link', { name: 'Good morning' }));
  await bea.axe();
  await bea.getByRole('link', { name: 'Good morning' }).click();
  await likes(bea, '0 likes').click();
  await likes(anna, '1 like').waitFor();
  await say(bea, 'Is it?');
  await inView(anna.getByText('bea has commented.'));
  await comment(anna, 'Is it?').waitFor();
  await anna.axe();

  await anna.getByRole('link', { name: 'Edit' }).click();
  await anna.getByRole('textbox', { name: 'Text' }).fill('# At five\n\nIt is **very** early.\n\n- coffee\n- tea');
  await anna.getByRole('button', { name: 'Save' }).click();
  for (const page of [anna, bea]) {
    await page.getByRole('article').first().getByRole('heading', { name: 'At five' }).waitFor();
    await page.getByRole('article').first().locator('strong').getByText('very').waitFor();
    assert.equal(await page.getByRole('article').first().getByRole('listitem').filter({ hasText: /coffee|tea/ }).count(), 2);
    await page.axe();
  }

  await comment(bea, 'Is it?').getByRole('button', { name: 'Edit' }).click();
  await bea.getByRole('listitem').getByLabel('Your comment').fill('It is.');
  await bea.getByRole('button', { name: 'Save' }).click();
  await comment(bea, 'It is.').getByText('edited').waitFor();
  await link(anna, 'cosmosblog').click();
  await anna.getByRole('link', { name: 'Good morning' }).click();
  await comment(anna, 'It is.').getByText('edited').waitFor();
  await comment(bea, 'It is.').getByRole('button', { name: 'Delete' }).click();
  await bea.axe();
  await bea.getByRole('button', { name: 'Delete comment' }).click();
  await comment(anna, 'It is.').waitFor({ state: 'detached' });
  await anna.getByText('Nobody has commented yet.').waitFor();

  await link(anna, 'anna').click();
  await anna.getByRole('button', { name: 'Change name' }).click();
  await anna.axe();
  await anna.getByLabel('New name').fill('anna.lee');
  await anna.getByRole('button', { name: 'Rename' }).click();
  await link(anna, 'anna.lee').waitFor();
  await anna.getByRole('link', { name: 'Good morning' }).click();
  await say(anna, 'I have a new name.');
  await comment(bea, 'I have a new name.').getByRole('link', { name: 'anna.lee' }).waitFor();
  await bea.getByRole('article').first().getByRole('link', { name: 'anna.lee' }).waitFor();
  for (const page of [anna, bea]) {
    assert.ok(await isSame(page));
    page.check();
  }
});

test('reloads lose nothing: a draft, a comment, a question, and the place in the feed', async () => {
  const anna = await openAs('anna', '/write');
  await anna.getByLabel('Title').fill('Half a thought');
  await anna.getByRole('textbox', { name: 'Text' }).fill('It begins');
  await anna.getByLabel('Tags').fill('thoughts');
  await anna.reload();
  await anna.getByLabel('Title').waitFor();
  assert.equal(await anna.getByLabel('Title').inputValue(), 'Half a thought');
  assert.equal(await anna.getByRole('textbox', { name: 'Text' }).inputValue(), 'It begins');
  assert.equal(await anna.getByLabel('Tags').inputValue(), 'thoughts');
  await anna.axe();

  await anna.goto(at(first));
  await commentField(anna).pressSequentially('Half a comm');
  await anna.getByRole('article').first().getByRole('button', { name: 'Delete' }).click();
  await anna.getByRole('dialog').getByText('Delete this post with all its comments and likes?').waitFor();
  await anna.axe();
  await anna.reload();
  await comment(anna, 'I have a new name.').waitFor(); // nothing was deleted, and nothing is asked
  assert.equal(await anna.getByRole('dialog').count(), 0);
  assert.equal(await commentField(anna).inputValue(), 'Half a comm');
  await commentField(anna).fill('A whole comment.');
  await publishComment(anna);
  await comment(anna, 'A whole comment.').waitFor();

  for (let n = 1; n <= 25; n++) await ask(anna, 'createPost', { title: `Note ${n}`, content: 'A text.', tags: ['notes'] });
  await anna.goto(url);
  const cards = anna.getByRole('article');
  await cards.nth(19).scrollIntoViewIfNeeded();
  const place = anna.getByRole('link', { name: 'Note 2', exact: true }); // on the second page
  await place.scrollIntoViewIfNeeded();
  await anna.waitForFunction(() => history.state.top === scrollY); // the browser's history has the place
  const { y } = await place.boundingBox();
  const count = await cards.count();
  await anna.reload();
  await cards.nth(count - 1).waitFor();
  await anna.waitForFunction(
    (y) => Math.abs([...document.querySelectorAll('article a')].find((link) => link.textContent === 'Note 2').getBoundingClientRect().y - y) < 20,
    y,
  );
  await anna.axe();
  anna.check();
});

test('the server goes away and returns: each page says so, and has what was published meanwhile', async () => {
  const anna = await openAs('anna', first);
  const bea = await openAs('bea', first);
  for (const page of [anna, bea]) await comment(page, 'A whole comment.').waitFor();
  await say(bea, 'Before.');
  await comment(anna, 'Before.').waitFor();

  await server.kill();
  await commentField(anna).fill('Into the dark.');
  await publishComment(anna);
  await inView(fault(anna).getByText('The server does not answer.'));
  assert.equal(await commentField(anna).inputValue(), 'Into the dark.');
  await likes(anna, '1 like').click();
  await anna.getByRole('status').getByText('The server does not answer.').waitFor();
  await likes(anna, '1 like').waitFor(); // the like is taken back
  await link(bea, 'Archive').click();
  await inView(fault(bea).getByText('The server does not answer.'));
  for (const page of [anna, bea]) await page.axe();

  // Somebody publishes at another server, while both wait at the address of the first.
  const elsewhere = await start('serve', folder, ...quiet);
  await ask(bea, 'createComment', { postId: postId(), content: 'Meanwhile.' }, elsewhere.url);
  await elsewhere.stop();
  server = await start('serve', folder, ...quiet, '--addr', new URL(url).host);
  await inView(heading(bea, 'Archive'));
  await fault(bea).waitFor({ state: 'detached' });
  await comment(anna, 'Meanwhile.').waitFor();
  assert.equal(await commentField(anna).inputValue(), 'Into the dark.');
  await anna.getByRole('button', { name: 'Try again' }).click();
  await comment(anna, 'Into the dark.').waitFor();
  await bea.goBack();
  await comment(bea, 'Into the dark.').waitFor();
  await comment(bea, 'Meanwhile.').waitFor();
  await say(bea, 'After.');
  await comment(anna, 'After.').waitFor();
  for (const page of [anna, bea]) {
    assert.ok(await isSame(page));
    for (const text of ['Before.', 'Into the dark.', 'Meanwhile.', 'After.']) assert.equal(await comment(page, text).count(), 1);
  }
});

test('ten seconds offline lose nothing', async () => {
  const anna = await openAs('anna', first);
  const bea = await open(at('/sign-in'));
  await bea.clock.install();
  await signIn(bea, 'bea');
  await bea.goto(at(first));
  await likes(bea, '1 like').and(bea.locator('[aria-pressed=true]')).waitFor();
  await bea.evaluate(() => (window.isSame = true));
  await say(anna, 'Still there?');
  await comment(bea, 'Still there?').waitFor();

  await bea.context().setOffline(true);
  await likes(bea, '1 like').click();
  await bea.getByRole('status').getByText('You are offline.').waitFor();
  await bea.getByRole('button', { name: '1 like', pressed: true }).waitFor(); // as before
  await commentField(bea).fill('From the tunnel.');
  await publishComment(bea);
  await inView(fault(bea).getByText('You are offline.'));
  assert.equal(await commentField(bea).inputValue(), 'From the tunnel.');
  await bea.axe();
  await say(anna, 'She is in a tunnel.');
  await bea.clock.fastForward(10_000);
  assert.equal(await commentField(bea).inputValue(), 'From the tunnel.');

  await bea.context().setOffline(false);
  await comment(bea, 'She is in a tunnel.').waitFor();
  await bea.getByRole('button', { name: 'Try again' }).click();
  await comment(bea, 'From the tunnel.').waitFor();
  assert.equal(await commentField(bea).inputValue(), '');
  await comment(anna, 'From the tunnel.').waitFor();
  await likes(bea, '1 like').click();
  await likes(anna, '0 likes').waitFor();

  await bea.context().setOffline(true); // a reader goes on, into the next tunnel
  await link(bea, 'Archive').click();
  await inView(fault(bea).getByText('You are offline.'));
  await bea.context().setOffline(false);
  await inView(bea.getByRole('link', { name: 'notes' }));
  await fault(bea).waitFor({ state: 'detached' });
  assert.ok(await isSame(bea));
});

test('a sign-in that expires while a comment is written: the comment waits for the next', async () => {
  const anna = await openAs('anna', first);
  const bea = await openAs('bea', first);
  await commentField(bea).fill('At the end of the hour.');
  const tab = await bea.context().newPage();
  await tab.goto(at('/archive'));
  await tab.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('cosmosblog.session'));
    localStorage.setItem('cosmosblog.session', JSON.stringify({ ...session, token: `${session.token.slice(0, -4)}AAAA` }));
  });
  await inView(bea.getByRole('button', { name: 'Sign in to comment' }));
  assert.equal(await commentField(bea).inputValue(), 'At the end of the hour.');
  await bea.axe();
  await bea.getByRole('button', { name: 'Sign in to comment' }).click();
  await bea.getByLabel('Your name').waitFor();
  await bea.axe();
  await signIn(bea, 'bea');
  await publishComment(bea);
  await comment(anna, 'At the end of the hour.').waitFor();
  assert.equal(await commentField(bea).inputValue(), '');
  assert.ok(await isSame(bea));
});

test('six tabs of one browser are live and answer', async () => {
  const anna = await openAs('anna', first);
  const bea = await openAs('bea', first);
  const author = await bea.getByRole('article').first().getByRole('link', { name: 'anna.lee' }).getAttribute('href');
  const tabs = { post: bea };
  for (const [name, path] of Object.entries({ feed: '/', tag: '/tags/notes', archive: '/archive', user: author, form: '/write' })) {
    tabs[name] = await bea.context().newPage();
    await tabs[name].goto(at(path));
  }
  await ask(anna, 'createPost', { title: 'In the evening', content: 'A text.', tags: ['notes'] });
  await tabs.feed.getByRole('button', { name: '1 new post' }).click();
  await tabs.feed.getByRole('link', { name: 'In the evening' }).waitFor();
  await say(anna, 'To all tabs.');
  await comment(bea, 'To all tabs.').waitFor();

  await tabs.archive.getByRole('link', { name: 'notes' }).click();
  await heading(tabs.archive, 'notes').waitFor();
  await tabs.form.getByLabel('Title').fill('The sixth tab');
  await tabs.form.getByRole('textbox', { name: 'Text' }).fill('It publishes.');
  await tabs.form.getByRole('button', { name: 'Publish' }).click();
  await heading(tabs.form, 'The sixth tab').waitFor();
  const readers = [tabs.feed, tabs.tag, tabs.user];
  for (const tab of readers) {
    await tab.getByRole('link', { name: 'Note 25' }).click();
    await likes(tab, '0 likes').waitFor();
  }
  await likes(tabs.feed, '0 likes').click();
  for (const tab of readers) await tab.getByRole('button', { name: '1 like', pressed: true }).waitFor();
  for (const tab of Object.values(tabs)) await inView(link(tab, 'bea'));
  bea.check();
});
