// What the server writes into the HTML of a page, and what the program makes of it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { inView, nameOf, open, serve } from './harness.mjs';

let url;
before(async () => {
  url = await serve({ users: 3 });
});

// queriesOf lists the names of the operations that a page sends from now on.
function queriesOf(page) {
  const names = [];
  page.on('request', (request) => new URL(request.url()).pathname === '/graphql' && names.push(nameOf(request)));
  return names;
}

// decoded returns the text of escaped HTML or XML.
const decoded = (text) =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => (code ? String.fromCodePoint(code) : { amp: '&', lt: '<', gt: '>' }[name]));

const hrefOf = (locator) => locator.first().getAttribute('href');

async function signIn(page, name) {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name }).waitFor();
}

test('every page comes with its title and its data', async () => {
  const page = await open(url);
  const main = page.getByRole('main');
  const paths = [
    '/',
    await hrefOf(main.getByRole('article').getByRole('heading').getByRole('link')),
    await hrefOf(main.getByRole('article').locator('a[href^="/users/"]')),
    await hrefOf(main.getByRole('list', { name: 'Tags' }).getByRole('link')),
    '/archive',
  ];
  await page.goto(`${url}/archive`);
  paths.push(await hrefOf(main.locator('a[href^="/archive/"]')), '/models', '/write', '/sign-in');
  for (const path of paths) {
    const sent = queriesOf(page);
    const response = await page.goto(url + path);
    await main.getByRole('heading', { level: 1 }).waitFor();
    const [, title] = (await response.text()).match(/<title>(.*?)<\/title>/);
    assert.equal(await page.title(), decoded(title), path);
    await page.waitForLoadState('networkidle');
    assert.deepEqual(sent, [], path);
    assert.equal(response.status(), 200, path);
    page.removeAllListeners('request');
  }
  for (const path of ['/posts/p_nothing', '/users/u_nothing', '/nothing', '/archive/never']) {
    const response = await page.goto(url + path);
    assert.equal(response.status(), 404, path);
    await main.getByRole('heading', { level: 1, name: 'There is no such' }).waitFor();
  }
  page.check();
});

test('what a page comes with is of nobody', async () => {
  const page = await open(url);
  await signIn(page, 'reader');
  await page.goto(url);
  await page.getByRole('article').first().getByRole('heading').getByRole('link').click();
  const like = page.getByRole('button', { name: /likes?$/ });
  await like.click();
  await page.getByRole('button', { name: /likes?$/, pressed: true }).waitFor();
  const response = await page.reload();
  assert.ok(!(await response.text()).includes('viewer'));
  await page.getByRole('button', { name: /likes?$/, pressed: true }).waitFor();

  // Another reader does not like it, although the page is the same.
  const other = await open(page.url());
  await signIn(other, 'another');
  await other.clock.install({ time: Date.now() + 600_000 }); // they have written nothing for a while
  const sent = queriesOf(other);
  await other.goto(page.url());
  await other.getByRole('banner').getByRole('link', { name: 'another' }).waitFor();
  await other.waitForLoadState('networkidle');
  await other.getByRole('button', { name: /likes?$/, pressed: false }).waitFor();
  assert.ok(!sent.includes('Post'), `${sent}`);
  page.check();
  other.check();
});

test('a link to a comment', async () => {
  const page = await open(url);
  await signIn(page, 'commenter');
  await page.goto(`${url}/write`);
  await page.getByLabel('Title').fill('Much discussed');
  await page.getByRole('textbox', { name: 'Text' }).fill('A text.');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: 'Much discussed' }).waitFor();
  const postId = new URL(page.url()).pathname.split('/').at(-1);
  for (let i = 1; i <= 22; i++) {
    const input = { postId, content: `Number ${i}.` };
    await page.evaluate(async (input) => {
      const { token } = JSON.parse(localStorage.getItem('cosmosblog.session'));
      const query = 'mutation ($input: CreateCommentInput!) { createComment(input: $input) { comment { id } } }';
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
      await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables: { input } }) });
    }, input);
  }
  await page.reload();
  await page.getByRole('button', { name: 'Show older comments' }).click();
  const first = page.getByRole('listitem').filter({ hasText: 'Number 1.' });
  await first.locator('a[href*="/comments/"]').click();
  const linked = page.getByRole('region', { name: 'The linked comment' });
  await inView(linked.getByText('Number 1.'));
  assert.equal(await linked.evaluate((element) => element === document.activeElement), true);

  // A stranger follows the link.
  const reader = await open(page.url());
  assert.equal(await reader.title(), 'Much discussed – cosmosblog');
  await inView(reader.getByRole('region', { name: 'The linked comment' }).getByText('Number 1.'));
  assert.equal(await reader.getByText('Number 1.').count(), 1);
  assert.equal(await reader.getByRole('listitem').filter({ hasText: /^.*Number 22/ }).count(), 1);
  await reader.axe();

  await linked.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete comment' }).click();
  await page.getByText('The comment is deleted.').waitFor();
  const response = await reader.reload();
  assert.equal(response.status(), 404);
  await reader.getByText('The linked comment is no longer there.').waitFor();
  await reader.getByRole('heading', { level: 1, name: 'Much discussed' }).waitFor();
  reader.check();
});

test('a server that does not know an id gets the text', async () => {
  const page = await open(url);
  const texts = [];
  await page.route('**/graphql', (route) => {
    const { documentId, query } = route.request().postDataJSON();
    if (documentId) {
      const errors = [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }];
      return route.fulfill({ status: 400, contentType: 'application/graphql-response+json', json: { errors } });
    }
    texts.push(query);
    return route.continue();
  });
  await page.getByRole('banner').getByRole('link', { name: 'Archive' }).click();
  await page.getByRole('heading', { name: 'Months' }).waitFor();
  assert.match(texts[0], /query Archive/);
});

test('the Atom feed is linked, and names the newest post', async () => {
  const page = await open(url);
  const title = await page.getByRole('article').first().getByRole('heading').innerText();
  const feed = await page.evaluate(async () => {
    const link = document.querySelector('link[type="application/atom+xml"]');
    return (await fetch(link.href)).text();
  });
  const [, entry] = feed.match(/<entry>(.*?)<\/entry>/s);
  assert.equal(decoded(entry.match(/<title>(.*?)<\/title>/)[1]), title);
  assert.ok(entry.includes(`<id>${url}/posts/`), entry);
});
