// The blog in production: pages that sign people in at an issuer, by a code with PKCE. The pages are the
// server's, or those of a static host.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import * as http from 'node:http';
import { createServer } from 'node:net';
import { extname } from 'node:path';
import { before, test } from 'node:test';
import { inView, newFolder, open, start } from './harness.mjs';
import { startIssuer } from './issuer.mjs';

let issuer, url, host;

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

before(async () => {
  issuer = await startIssuer('blog', 'api');
  url = `http://127.0.0.1:${await freePort()}`;
  host = await startHost({ api: url, issuer: { url: issuer.url, client: 'blog', scope: 'openid', token: 'access_token' } });
  const pages = ['--pages', url, '--pages-client', 'blog', '--documents-only', '--addr', new URL(url).host, '--cors-origins', host];
  await start('serve', newFolder({ users: 3 }), '--log-level', 'error', '--issuer', issuer.url, '--audience', 'api', ...pages);
});

// startHost serves the built pages with other settings, as BLOG_PAGE writes them, and returns its origin.
async function startHost(settings) {
  const dist = new URL('../dist/app', import.meta.url).pathname;
  const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };
  const page = readFileSync(`${dist}/index.html`, 'utf8').replace('{"development":true}', JSON.stringify(settings));
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://host');
    const isFile = pathname !== '/' && existsSync(dist + pathname);
    response.setHeader('Content-Type', isFile ? (types[extname(pathname)] ?? 'text/plain') : 'text/html');
    response.end(isFile ? readFileSync(dist + pathname) : page);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

const openPage = (path = '/') => open(url + path, { allows: [issuer.url] });
let people = 0;

// signIn signs in a new person, who chooses a name.
async function signIn(page) {
  issuer.subject = `person-${++people}`;
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Your name').fill(`Person-${people}`);
  await page.getByRole('button', { name: 'Go on' }).click();
  await viewer(page).waitFor();
}

const viewer = (page) => page.getByRole('banner').getByRole('link', { name: /^\w? *Person-/ });
const like = (page) => page.getByRole('button', { name: /likes?$/ });
const firstPost = (page) => page.getByRole('article').first().getByRole('heading').getByRole('link');

// A page is read without signing in. A like leads to the issuer and back to the post, where it is done.
test('a like that signs in a new person', async () => {
  const page = await openPage();
  assert.equal(await page.getByRole('contentinfo').count(), 0); // costs are for development
  assert.equal(await page.getByRole('link', { name: 'GraphiQL' }).count(), 0);
  await firstPost(page).click();
  issuer.subject = `person-${++people}`;
  await like(page).click();
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Choose the name that others see.').waitFor();
  await page.axe();
  await page.getByLabel('Your name').fill('x');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await page.getByLabel('Your name').fill(`Person-${people}`);
  await page.getByRole('button', { name: 'Go on' }).click();
  await like(page).and(page.locator('[aria-pressed=true]')).waitFor();
  assert.match(new URL(page.url()).pathname, /^\/posts\/p_/);
  await page.reload();
  await like(page).and(page.locator('[aria-pressed=true]')).waitFor();
  page.check();
});

test('a token that expires is renewed, once for all tabs, and nothing is lost', async () => {
  const page = await openPage();
  await signIn(page);
  await firstPost(page).click();
  await page.getByLabel('Your comment').fill('Begun with the old token.');
  const other = await page.context().newPage();
  await page.evaluate(expire);
  const refreshes = issuer.refreshes;
  await Promise.all([page.reload(), other.goto(url)]);
  await Promise.all([viewer(page).waitFor(), viewer(other).waitFor()]);
  assert.equal(issuer.refreshes, refreshes + 1);
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByRole('listitem').getByText('Begun with the old token.').waitFor();
});

// expire makes the stored token one that the server refuses.
function expire() {
  const session = JSON.parse(localStorage.getItem('cosmosblog.session'));
  localStorage.setItem('cosmosblog.session', JSON.stringify({ ...session, token: session.token.slice(0, -4) + 'AAAA' }));
}

test('a renewal that the issuer refuses asks to sign in again, and the draft stays', async () => {
  const page = await openPage();
  await signIn(page);
  await page.getByRole('banner').getByRole('link', { name: 'Write' }).click();
  await page.getByLabel('Title').fill('A draft');
  await page.getByRole('textbox', { name: 'Text' }).fill('Of somebody.');
  await page.evaluate(expire);
  issuer.refuses = true;
  await page.reload();
  await page.getByText('The server no longer accepts your sign-in. Your drafts are still here.').waitFor();
  await page.axe();

  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click(); // which is refused too
  await inView(page.getByText('The sign-in failed: access_denied'));
  issuer.refuses = false;
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await viewer(page).waitFor();
  await page.goto(`${url}/write`);
  assert.equal(await page.getByLabel('Title').inputValue(), 'A draft');

  await page.getByRole('banner').getByRole('link', { name: /Person-/ }).click();
  await page.route(/issuer/, (route) => route.abort()); // the library is not needed to forget its tokens
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('oidc.'))), []);
});

test('pages of a static host, whose API has another origin', async () => {
  const page = await open(`${host}/archive`, { allows: [issuer.url, url] });
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(new URL(socket.url()).host));
  await signIn(page);
  await page.goto(host);
  await firstPost(page).click();
  await like(page).click();
  await like(page).and(page.locator('[aria-pressed=true]')).waitFor();

  // What others write arrives, over a WebSocket of the API.
  const other = await openPage();
  await signIn(other);
  await other.goto(url + new URL(page.url()).pathname);
  await other.getByLabel('Your comment').fill('From the other origin.');
  await other.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByRole('listitem').getByText('From the other origin.').waitFor();
  assert.ok(sockets.length > 0 && sockets.every((socket) => socket === new URL(url).host), `${sockets}`);
  other.check();
});
