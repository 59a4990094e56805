// Sign-in and drafts, in several tabs of a browser and over its pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = await serve({ users: 3 });
const at = (path) => new URL(path, url).href;

// Each test has names of its own.
let tests = 0;
const newName = (name) => `${name}-${++tests}`;

// newTab opens a path in another tab of a page's browser.
async function newTab(page, path) {
  const tab = await page.context().newPage();
  await tab.goto(at(path));
  return tab;
}

async function signIn(page, name) {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
}

// showsUser waits until the header shows who is signed in.
const showsUser = (page, name) => sees(page, page.getByRole('banner').getByRole('link', { name, exact: true }));
const showsNobody = (page) => sees(page, page.getByRole('banner').getByRole('link', { name: 'Sign in' }));

// sees waits until a person sees an element: it is the topmost at its centre, inside the window.
async function sees(page, locator) {
  await locator.waitFor();
  await locator.evaluate(async (element) => {
    const isSeen = () => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    };
    while (element.isConnected && !isSeen()) await new Promise(requestAnimationFrame);
  });
}

const firstPost = (page) => page.getByRole('article').first().getByRole('heading').getByRole('link').getAttribute('href');

test('all tabs of a browser have one session', { timeout: 60_000 }, async () => {
  const name = newName('anna');
  const page = await open(url);
  await signIn(page, name);
  await showsUser(page, name);
  const post = await newTab(page, await firstPost(page));
  await showsUser(post, name);
  const graphiql = await newTab(page, '/playground');
  await sees(graphiql, graphiql.getByRole('button', { name: `Signed in as ${name}` }));

  await page.getByRole('banner').getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await showsNobody(page);
  await showsNobody(post);
  await sees(graphiql, graphiql.getByRole('button', { name: 'Sign in with a development token' }));

  await post.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  await signIn(post, name);
  await showsUser(post, name);
  await showsUser(page, name);
  page.check();
});

test('GraphiQL and the blog sign in the same account for a name', { timeout: 60_000 }, async () => {
  const name = newName('Carla');
  const page = await open(url);
  await signIn(page, name);
  await showsUser(page, name);
  const graphiql = await newTab(page, '/playground');
  await graphiql.getByRole('button', { name: 'Signed in as' }).click();
  await graphiql.getByRole('button', { name: 'Sign out' }).click();
  await showsNobody(page);
  await graphiql.getByRole('button', { name: 'Sign in with a development token' }).click();
  await graphiql.getByRole('textbox', { name: 'Name' }).fill(` ${name.toUpperCase()}`);
  await graphiql.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await showsUser(page, name);
  page.check();
});

test('a draft outlives its tab, and belongs to its account', { timeout: 60_000 }, async () => {
  const [name, other] = [newName('anna'), newName('carl')];
  const page = await open(url);
  await signIn(page, name);
  await showsUser(page, name);
  const tab = await newTab(page, '/write');
  await tab.getByLabel('Title').fill('A day at the sea');
  await tab.close();

  const second = await newTab(page, '/write');
  await second.getByLabel('Title').waitFor();
  assert.equal(await second.getByLabel('Title').inputValue(), 'A day at the sea');
  await second.getByRole('textbox', { name: 'Text' }).fill('It rained.');

  // Another account does not see it.
  await page.getByRole('banner').getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(second, other);
  await showsUser(second, other);
  await second.getByLabel('Title').waitFor();
  assert.equal(await second.getByLabel('Title').inputValue(), '');

  await second.getByRole('banner').getByRole('link', { name: other }).click();
  await second.getByRole('button', { name: 'Sign out' }).click();
  await second.goto(at('/write'));
  await signIn(second, name);
  await second.getByRole('textbox', { name: 'Text' }).waitFor();
  assert.equal(await second.getByRole('textbox', { name: 'Text' }).inputValue(), 'It rained.');
  await second.getByRole('button', { name: 'Publish' }).click();
  await sees(second, second.getByRole('heading', { level: 1, name: 'A day at the sea' }));
  page.check();
});

test('a browser that blocks its storage', { timeout: 60_000 }, async () => {
  const name = newName('anna');
  const page = await open(url);
  await page.addInitScript(() => {
    for (const area of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, area, {
        get() {
          throw new DOMException('The storage is blocked.', 'SecurityError');
        },
      });
    }
  });
  await page.reload();
  await signIn(page, name);
  await showsUser(page, name);
  await page.getByRole('link', { name: 'Write' }).click();
  await page.getByLabel('Title').fill('Without storage');
  await page.getByRole('textbox', { name: 'Text' }).fill('A text.');
  await page.getByRole('link', { name: 'cosmosblog' }).click();
  await page.getByRole('link', { name: 'Write' }).click();
  await page.getByRole('button', { name: 'Publish' }).click();
  await sees(page, page.getByRole('heading', { level: 1, name: 'Without storage' }));
  page.check();
});
