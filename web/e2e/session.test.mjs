// Sign-in and drafts, in several tabs of a browser and over its pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inView, isOperation, nameOf, open, serve } from './harness.mjs';

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
const showsUser = (page, name) => inView(page.getByRole('banner').getByRole('link', { name, exact: true }));
const showsNobody = (page) => inView(page.getByRole('banner').getByRole('link', { name: 'Sign in' }));

const isViewer = isOperation('Viewer');

async function rename(page, from, to) {
  await page.getByRole('banner').getByRole('link', { name: from }).click();
  await page.getByRole('button', { name: 'Change name' }).click();
  await page.getByLabel('New name').fill(to);
  await page.getByRole('button', { name: 'Rename' }).click();
  await showsUser(page, to);
}

async function signOut(page, name) {
  await page.getByRole('banner').getByRole('link', { name, exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await showsNobody(page);
}

const firstPost = (page) => page.getByRole('article').first().getByRole('heading').getByRole('link').getAttribute('href');

test('all tabs of a browser have one session', async () => {
  const name = newName('anna');
  const page = await open(url);
  await signIn(page, name);
  await showsUser(page, name);
  const post = await newTab(page, await firstPost(page));
  await showsUser(post, name);
  const graphiql = await newTab(page, '/playground');
  await inView(graphiql.getByRole('button', { name: `Signed in as ${name}` }));

  await signOut(page, name);
  await showsNobody(post);
  await inView(graphiql.getByRole('button', { name: 'Sign in with a development token' }));

  await post.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  await signIn(post, name);
  await showsUser(post, name);
  await showsUser(page, name);
  page.check();
});

test('GraphiQL and the blog sign in the same account for a name', async () => {
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

test('a draft outlives its tab, and belongs to its account', async () => {
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
  await signOut(page, name);
  await signIn(second, other);
  await showsUser(second, other);
  await second.getByLabel('Title').waitFor();
  assert.equal(await second.getByLabel('Title').inputValue(), '');

  await signOut(second, other);
  await second.goto(at('/write'));
  await signIn(second, name);
  await second.getByRole('textbox', { name: 'Text' }).waitFor();
  assert.equal(await second.getByRole('textbox', { name: 'Text' }).inputValue(), 'It rained.');
  await second.getByRole('button', { name: 'Publish' }).click();
  await inView(second.getByRole('heading', { level: 1, name: 'A day at the sea' }));
  page.check();
});

test('a browser that blocks its storage', async () => {
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
  await inView(page.getByRole('heading', { level: 1, name: 'Without storage' }));
  page.check();
});

test('after a rename, the new name signs in', async () => {
  const [first, next] = [newName('anna'), newName('bea')];
  const page = await open(at('/sign-in'));
  await signIn(page, first);
  await showsUser(page, first);
  await rename(page, first, next);
  await signOut(page, next);
  for (const name of [next, first]) {
    await page.goto(at('/sign-in'));
    assert.equal(await page.getByLabel('Your name').inputValue(), next);
    await signIn(page, name);
    await inView(page.getByText(`You are signed in as ${next}.`));
    await showsUser(page, next);
    const graphiql = await newTab(page, '/playground');
    await inView(graphiql.getByRole('button', { name: `Signed in as ${next}` }));
    await graphiql.close();
    await signOut(page, next);
  }

  // Another browser does not know the account. The renamed user's first name is the account's.
  const other = await open(at('/sign-in'));
  await signIn(other, next);
  await inView(other.getByText('a person who first signed in with another name'));
  await other.axe();
  await signIn(other, first);
  await inView(other.getByText(`You are signed in as ${next}.`));
  await rename(other, next, `${next}-2`);

  // The first browser knows an old username, which is free again.
  await page.goto(at('/sign-in'));
  await signIn(page, next);
  await inView(page.getByText(`You are signed in as ${next}.`));
  await page.getByRole('banner').getByRole('link', { name: next }).click();
  await inView(page.getByText('You have not written anything yet.'));
  page.check();
  other.check();
});

test('a comment stays if the session ends while it is written', async () => {
  const name = newName('anna');
  const page = await open(url);
  await signIn(page, name);
  await showsUser(page, name);
  await page.getByRole('article').first().getByRole('heading').getByRole('link').click();
  const text = `A comment of ${name}.`;
  const field = page.getByLabel('Your comment');
  await field.fill(text);
  await page.route('**/graphql', (route) => {
    const headers = route.request().headers();
    if (nameOf(route.request()) === 'CreateComment') headers.authorization = 'Bearer old';
    return route.continue({ headers });
  });
  await page.getByRole('button', { name: 'Comment' }).click();
  await inView(page.getByText('Your sign-in is no longer valid.'));
  await page.unroute('**/graphql');
  await inView(field);
  await inView(page.getByRole('button', { name: 'Sign in to comment' }));
  assert.equal(await field.inputValue(), text);
  await page.axe();
  page.broken.splice(0); // the browser logs the status 401

  await page.reload();
  assert.equal(await field.inputValue(), text);
  await page.getByRole('button', { name: 'Sign in to comment' }).click();
  await signIn(page, name);
  // The reader is back at the form, from where the header may be out of the window.
  await page.getByRole('banner').getByRole('link', { name, exact: true }).waitFor();
  const publish = page.getByRole('button', { name: 'Comment', exact: true });
  await inView(publish);
  assert.equal(await field.inputValue(), text);
  await publish.click();
  await page.getByRole('listitem').getByText(text).scrollIntoViewIfNeeded();
  await inView(page.getByRole('listitem').getByText(text));
  assert.equal(await field.inputValue(), '');
  page.check();
});

test('a story in two tabs: everything is where a person left it', async () => {
  const [anna, bea] = [newName('anna'), newName('bea')];
  const first = await open(url);
  await signIn(first, anna);
  await showsUser(first, anna);
  const opened = first.context().waitForEvent('page');
  await first.getByRole('article').first().getByRole('heading').getByRole('link').click({ modifiers: ['Control'] });
  const second = await opened;
  await showsUser(second, anna);

  // The second tab publishes a comment, and keeps the text of another.
  const field = second.getByLabel('Your comment');
  const comment = second.getByRole('listitem').filter({ hasText: 'The first comment.' });
  await field.fill('The first comment.');
  await second.getByRole('button', { name: 'Comment' }).click();
  await comment.waitFor();
  await field.fill('The second comment.');

  await rename(first, anna, bea);
  await signOut(first, bea);
  await second.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  await signIn(second, bea);
  await inView(second.getByText(`You are signed in as ${bea}.`));

  async function isAsLeft() {
    await showsUser(first, bea);
    await second.getByRole('heading', { name: 'Comments' }).waitFor();
    await second.getByRole('banner').getByRole('link', { name: bea, exact: true }).waitFor();
    assert.equal(await field.inputValue(), 'The second comment.');
    await field.scrollIntoViewIfNeeded();
    await inView(field);
    await comment.scrollIntoViewIfNeeded();
    await inView(comment.getByRole('link', { name: bea }));
    await inView(comment.getByRole('button', { name: 'Edit' }));
  }
  await isAsLeft();
  await second.getByRole('link', { name: 'cosmosblog' }).click();
  await second.getByRole('heading', { name: 'Recent posts' }).waitFor();
  await second.goBack();
  await isAsLeft();
  await first.reload();
  await second.reload();
  await isAsLeft();
  await second.getByRole('button', { name: 'Comment' }).click();
  await second.getByRole('listitem').filter({ hasText: 'The second comment.' }).getByRole('link', { name: bea }).waitFor();
  assert.equal(await field.inputValue(), '');
  first.check();
});

test('a tab never shows the user who was signed in before', async () => {
  const [anna, carl] = [newName('anna'), newName('carl')];
  const page = await open(url);
  const tab = await newTab(page, '/');
  await signIn(page, anna);
  await showsUser(tab, anna);
  await signOut(page, anna);
  await showsNobody(tab);
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  const asked = new Promise((asks) =>
    tab.route('**/graphql', (route) => (isViewer(route.request()) ? asks(route) : route.continue())),
  );
  await signIn(page, carl);
  await showsUser(page, carl);
  await asked;
  assert.equal(await tab.getByRole('banner').getByRole('link', { name: anna }).count(), 0);
  await (await asked).continue();
  await showsUser(tab, carl);
  page.check();
});

test('a rename that the blog did not make', async () => {
  const [first, next] = [newName('anna'), newName('bea')];
  const page = await open(url);
  await signIn(page, first);
  await showsUser(page, first);
  await page.evaluate(async (username) => {
    const { token } = JSON.parse(localStorage.getItem('cosmosblog.session'));
    const query = 'mutation ($username: String!) { updateUser(input: { username: $username }) { user { id } } }';
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables: { username } }) });
  }, next);
  await page.reload();
  await showsUser(page, next);
  await signOut(page, next);
  await page.goto(at('/sign-in'));
  assert.equal(await page.getByLabel('Your name').inputValue(), next);
  await signIn(page, next);
  await showsUser(page, next);
  page.check();
});
