// What goes wrong, and what a reader then sees of it: within the window, and not merely in the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inView, isOperation, nameOf, open, serve, withoutData } from './harness.mjs';

const url = await serve({ users: 20 });
const at = (path) => new URL(path, url).href;
const phone = { viewport: { width: 390, height: 844 } };
const tablet = { viewport: { width: 700, height: 900 } };

// Each test signs in with a name of its own.
let names = 0;
async function signIn(page, name = `guest-${++names}`) {
  await page.goto(at('/sign-in'));
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name }).waitFor();
}

async function publish(page, title, content = 'A text.') {
  await page.goto(at('/write'));
  await page.getByLabel('Title').fill(title);
  await page.getByRole('textbox', { name: 'Text' }).fill(content);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}

// isOperation selects the requests of one GraphQL operation.

test('a comment whose answer was lost is listed once', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'A post with one comment');
  await page.route('**/graphql', async (route) => {
    if (!isOperation('CreateComment')(route.request())) return route.continue();
    await route.fetch(); // the server publishes the comment
    await route.abort();
  });
  await page.getByLabel('Your comment').fill('Said once.');
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByText('The server does not answer.').waitFor();
  await page.unroute('**/graphql');
  await page.reload(); // the draft is kept, and the list has the comment
  const comment = page.getByRole('listitem').getByText('Said once.');
  await comment.waitFor();
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByText('Your comment is published.').waitFor();
  assert.equal(await comment.count(), 1);
  await page.getByRole('heading', { name: 'Comments 1' }).waitFor();
});

for (const [how, options] of [['on a desktop', {}], ['on a phone', phone]]) {
  test(`the charge of GraphiQL opens the panel of charges, ${how}`, async () => {
    const page = await open(at('/playground'), options);
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    const hide = page.getByRole('button', { name: 'Hide Examples' });
    if (await hide.isVisible()) await hide.click();
    await page.getByRole('button', { name: 'Execute query' }).click();
    const charge = page.getByRole('status').getByRole('button', { name: / RU$/ });
    await charge.click();
    const row = page.getByRole('region', { name: 'Requests to Cosmos DB' }).getByRole('row').nth(1);
    await inView(row);
    if (options === phone) return; // the panel covers the charge
    await charge.click(); // the panel stays
    await inView(row);
    page.check();
  });
}

for (const [how, options] of [['on a desktop', {}], ['on a phone', phone]]) {
  test(`a long text leaves button and fault in view, ${how}`, async () => {
    const page = await open(url, options);
    await signIn(page);
    await publish(page, 'To comment');
    const text = page.getByLabel('Your comment');
    await text.fill(`${'word '.repeat(60)}\n`.repeat(60));
    const { height } = await text.boundingBox();
    assert.ok(height <= 0.61 * page.viewportSize().height, `${height} px tall`);
    const send = page.getByRole('button', { name: 'Comment', exact: true });
    await send.click();
    await inView(page.getByText(/at most/));
    await inView(text);
    await inView(send);
  });
}

// inkOf returns whether the first line of an element has ink in its left and in its right half, compared
// with the same element without its text.
async function inkOf(page, locator, clear) {
  const { x, y, width, height } = await locator.boundingBox();
  const halves = [x + 2, x + width / 2].map((x) => ({ x, y: y + 2, width: width / 2 - 4, height: Math.min(height, 48) - 4 }));
  const pictures = () => Promise.all(halves.map((clip) => page.screenshot({ clip, animations: 'disabled' })));
  const before = await pictures();
  await clear();
  const after = await pictures();
  return before.map((picture, half) => !picture.equals(after[half]));
}

test('a text from right to left stands on the right, and one from left to right on the left', async () => {
  const page = await open(url);
  await signIn(page);
  const [onLeft, onRight] = [[true, false], [false, true]];
  for (const [text, ink] of [['Hello!', onLeft], ['שלום!', onRight]]) {
    await page.goto(at('/write'));
    for (const field of [page.getByLabel('Title'), page.getByRole('textbox', { name: 'Text' })]) {
      await field.fill(text);
      assert.deepEqual(await inkOf(page, field, () => field.fill('')), ink, `${text} in a field`);
    }
    await publish(page, text);
    const heading = page.getByRole('heading', { level: 1 });
    assert.deepEqual(await inkOf(page, heading, () => heading.evaluate((h1) => h1.style.setProperty('color', 'transparent'))), ink, text);
    await page.getByRole('link', { name: 'cosmosblog' }).click();
    const title = page.getByRole('link', { name: text });
    const card = page.getByRole('article').getByRole('heading').filter({ has: title });
    assert.deepEqual(await inkOf(page, card, () => title.evaluate((a) => a.style.setProperty('color', 'transparent'))), ink, text);
  }
});

test('after a reload, Back shows the feed as it was left', async () => {
  const page = await open(url);
  const articles = page.getByRole('article');
  await articles.nth(19).waitFor();
  while ((await articles.count()) < 60) await articles.last().scrollIntoViewIfNeeded();
  await articles.nth(50).evaluate((article) => article.scrollIntoView({ block: 'center' }));
  const link = articles.nth(50).getByRole('heading').getByRole('link');
  const shown = await articles.count();
  const [title, path] = [await link.innerText(), await link.getAttribute('href')];
  const isBack = async () => {
    await articles.nth(shown - 1).waitFor();
    await inView(page.locator(`h2 a[href="${path}"]`));
  };
  await link.click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.goBack();
  await isBack();
  await page.reload();
  await isBack();

  // A visit by a link begins anew.
  await page.getByRole('link', { name: 'cosmosblog' }).click();
  await inView(page.getByRole('heading', { level: 1, name: 'Recent posts' }));
  page.check();
});

test('a browser that keeps no session tokens', async () => {
  const page = await open(url);
  await page.addInitScript(() => {
    for (const name of ['getItem', 'setItem']) {
      const original = Storage.prototype[name];
      Storage.prototype[name] = function (key, ...values) {
        if (key === 'cosmosblog.written') throw new DOMException('blocked', 'SecurityError');
        return original.call(this, key, ...values);
      };
    }
  });
  await page.reload();
  await inView(page.getByRole('article').first().getByRole('heading'));
  await signIn(page);
  await publish(page, 'Not remembered');
  await page.getByRole('link', { name: 'cosmosblog' }).click();
  await inView(page.getByRole('heading', { level: 2, name: 'Not remembered' }));
  page.check();
});

test('a browser whose storage has other texts than this version writes', async () => {
  const page = await open(url);
  await page.evaluate(() => {
    for (const key of ['session', 'usernames', 'written', 'draft//welcome']) localStorage.setItem(`cosmosblog.${key}`, '{');
  });
  await page.reload();
  await inView(page.getByRole('article').first().getByRole('heading'));
  await signIn(page);
  page.check();
});

test('a sign-in leads back to the place before, and never out of the blog', async () => {
  const page = await open(at('/sign-in'));
  await page.getByRole('link', { name: 'cosmosblog' }).click();
  await page.getByRole('heading', { level: 1, name: 'Recent posts' }).waitFor();
  await page.goBack(); // before this place, the tab was empty
  const name = `guest-${++names}`;
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await inView(page.getByRole('banner').getByRole('link', { name }));
  await inView(page.getByRole('heading', { level: 1, name: 'Recent posts' }));

  await page.getByRole('banner').getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await page.reload();
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await inView(page.getByRole('heading', { level: 1, name }));
  page.check();
});

test('a page that has failed says so, and can be reloaded', async () => {
  const page = await open(url);
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    json.data.feed.edges = null; // never the case
    await route.fulfill({ response, json });
  });
  await withoutData(page);
  await page.reload();
  await inView(page.getByRole('heading', { name: 'This page has failed' }));
  await page.axe();
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Reload the page' }).click();
  const post = page.getByRole('article').first().getByRole('heading').getByRole('link');
  await inView(post);

  await page.route('**/graphql', async (route) => {
    if (!isOperation('Post')(route.request())) return route.continue();
    const response = await route.fetch();
    const json = await response.json();
    json.data.post.comments.edges = null;
    await route.fulfill({ response, json });
  });
  await post.click();
  await inView(page.getByRole('heading', { name: 'This page has failed' }));
  await page.getByRole('link', { name: 'Recent posts' }).click();
  await inView(post);
});

test('a comment that was deleted while the page was read', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'A post with a comment');
  await page.getByLabel('Your comment').fill('Said once.');
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  const comment = page.getByRole('listitem').filter({ has: page.getByRole('article') });
  await comment.getByRole('button', { name: 'Edit' }).waitFor();
  await page.route('**/graphql', async (route) => {
    if (!isOperation('Post')(route.request())) return route.continue();
    const response = await route.fetch();
    const json = await response.json();
    json.data.post.comments.edges[0].node.content = null;
    await route.fulfill({ response, json });
  });
  await page.reload();
  await comment.getByText('This comment is no longer there.').waitFor();
  assert.equal(await comment.getByRole('button').count(), 0);
  await page.axe();
  page.check();
});

test('a paste of six megabytes is refused with a sentence', async () => {
  const page = await open(url, { permissions: ['clipboard-read', 'clipboard-write'] });
  await signIn(page);
  await page.goto(at('/write'));
  const text = page.getByRole('textbox', { name: 'Text' });
  await text.fill('Before. ');
  await page.evaluate(() => navigator.clipboard.writeText('a'.repeat(6_000_000)));
  await page.keyboard.press('Control+V');
  await inView(page.getByText('A text of 6,000,000 characters was not inserted: it is too long.'));
  assert.equal(await text.inputValue(), 'Before. ');
  await page.axe();
  await page.keyboard.type('A');
  await page.getByText('was not inserted').waitFor({ state: 'detached' });
  assert.equal(await text.inputValue(), 'Before. A');
  page.check();
});

test('likes and comments are sent again after a lost answer', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'A post with a bad line');
  const lost = new Set();
  await page.route('**/graphql', async (route) => {
    const operationName = nameOf(route.request());
    if (!['LikePost', 'UnlikePost', 'CreateComment'].includes(operationName) || lost.has(operationName)) return route.continue();
    lost.add(operationName);
    await route.fetch();
    await route.abort();
  });
  const answered = (name) => page.waitForResponse((response) => isOperation(name)(response.request()));
  for (const [before, name, after] of [['0 likes', 'LikePost', '1 like'], ['1 like', 'UnlikePost', '0 likes']]) {
    const response = answered(name);
    await page.getByRole('button', { name: before }).click();
    await response;
    await inView(page.getByRole('button', { name: after }));
  }
  await page.getByLabel('Your comment').fill('Heard?');
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByText('Your comment is published.').waitFor();
  assert.equal(await page.getByRole('listitem').getByText('Heard?').count(), 1);
  assert.equal(await page.getByText('The server does not answer.').count(), 0);
  assert.equal(lost.size, 3);
});

test('a silent server is a fault, and the page recovers by itself', async () => {
  const page = await open(url);
  await page.clock.install();
  const fault = page.getByRole('alert').getByText('The server does not answer.');
  let answer = () => {}; // none
  await page.route('**/graphql', (route) => answer(route));
  await withoutData(page);
  await page.reload();
  await page.locator('.skeleton').first().waitFor();
  await page.clock.fastForward(19_000);
  assert.equal(await fault.count(), 0);
  await page.clock.fastForward(2_000);
  await inView(fault);
  await inView(page.getByRole('button', { name: 'Try again' }));

  answer = (route) => route.abort(); // the server is stopped
  await page.reload();
  await inView(fault);
  answer = (route) => route.continue(); // and started again
  await page.clock.fastForward(6_000);
  await inView(page.getByRole('article').first().getByRole('heading'));
  assert.equal(await fault.count(), 0);
});

for (const [how, options] of [['on a desktop', {}], ['on a tablet', tablet], ['on a phone', phone]]) {
  test(`a viewer who could not be read is told, ${how}`, async () => {
    const page = await open(url, options);
    await signIn(page, `unread-${++names}`);
    const fault = { message: 'No.', extensions: { code: 'INTERNAL', errorId: 'e1' } };
    await page.route('**/graphql', (route) =>
      isOperation('Viewer')(route.request())
        ? route.fulfill({ json: { data: { viewer: null }, errors: [{ ...fault, path: ['viewer'] }] } })
        : route.continue(),
    );
    await page.goto(url);
    const again = page.getByRole('banner').getByRole('button', { name: 'Your name was not read. Try again' });
    await inView(again);
    const right = (locator) => locator.evaluate((element) => element.getBoundingClientRect().right);
    assert.ok((await right(again)) <= (await right(page.getByRole('main'))));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.axe();
    await page.unroute('**/graphql');
    await again.click();
    await inView(page.getByRole('banner').getByRole('link', { name: `unread-${names}` }));
    page.check();
  });
}

test('a page that loads shows bars without any letter', async () => {
  const page = await open(url, phone);
  await page.route('**/graphql', () => {});
  await withoutData(page);
  await page.reload();
  const excerpt = page.locator('.skeleton > p').first();
  await inView(excerpt);
  const isCut = ({ scrollHeight, clientHeight }) => scrollHeight > clientHeight;
  assert.ok(await excerpt.evaluate(isCut), 'no ellipsis to look at');
  assert.equal(await excerpt.evaluate((element) => getComputedStyle(element).color), 'rgba(0, 0, 0, 0)');
});

test('dates and numbers are in the language of the page', async () => {
  const page = await open(url, { locale: 'de-DE' });
  const time = page.getByRole('article').first().getByRole('time').first();
  await inView(page.getByRole('article').first());
  assert.match(await time.innerText(), /ago|now|yesterday|^[A-Z][a-z]{2} \d+, \d{4}$/);
  assert.match(await page.getByRole('contentinfo').locator('strong').innerText(), /^[\d.]+ RU$/);
});

test('the bar at the bottom is reached by keyboard, and does not scroll the page', async () => {
  const page = await open(url);
  await page.getByRole('article').nth(19).waitFor();
  const bar = page.getByRole('contentinfo').locator('summary');
  await page.evaluate(() => scrollTo(0, 1000));
  await bar.focus();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.equal(await page.evaluate(() => scrollY), 1000);
  await inView(bar);

  await page.reload();
  await page.getByRole('article').nth(19).waitFor();
  for (let tabs = 0; !(await bar.evaluate((element) => element === document.activeElement)); tabs++) {
    assert.ok(tabs < 10, 'ten tabs');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await inView(page.getByRole('table'));
  page.check();
});

test('“Sign in” is one line on the narrowest phone', async () => {
  const page = await open(url, { viewport: { width: 320, height: 640 } });
  const buttons = [page.getByRole('banner').getByRole('link', { name: 'Sign in' }), page.getByRole('main').getByRole('button', { name: 'Sign in' })];
  for (const button of buttons) {
    await inView(button);
    const lines = await button.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    });
    assert.equal(lines, 1);
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} px too wide`);
  page.check();
});

test('GraphiQL says in a sentence that the server does not answer', async () => {
  const page = await open(at('/playground'));
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.route('**/graphql', (route) => route.abort());
  await page.getByRole('button', { name: 'Execute query' }).click();
  const answer = page.locator('.graphiql-response');
  await inView(answer.locator('.view-line').filter({ hasText: 'The server does not' })); // the editor breaks the line
  const text = (await answer.locator('.view-lines').innerText()).replace(/\s+/g, ' ');
  assert.equal(text, '{ "errors": [ { "message": "The server does not answer. Is it still running?" } ] }');

  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await inView(answer.locator('.view-line').filter({ hasText: '"feed"' }));
});

test('a like that leads to the page for signing in is done after it', async () => {
  const author = await open(url);
  await signIn(author);
  await publish(author, 'Liked by a guest');
  const page = await open(author.url());
  const notLiked = page.getByRole('button', { name: '0 likes', pressed: false });
  const liked = page.getByRole('button', { name: '1 like', pressed: true });
  const name = `liker-${++names}`;
  async function likeAsNobody() {
    await notLiked.click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  }
  async function signInHere() {
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
    await inView(page.getByRole('banner').getByRole('link', { name }));
  }

  // A reader who comes back as nobody likes nothing, also after a later sign-in.
  await likeAsNobody();
  await page.goBack();
  await inView(notLiked);
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
  await signInHere();
  await page.reload();
  await inView(notLiked);
  await page.getByRole('banner').getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goBack();

  await likeAsNobody();
  await signInHere();
  await inView(liked);
  await page.reload();
  await inView(liked);
  page.check();
});

test('a reader whose name is still unknown likes without the page for signing in', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'Liked early');
  await page.route('**/graphql', (route) => !isOperation('Viewer')(route.request()) && route.continue());
  await page.reload();
  await page.getByRole('button', { name: '0 likes' }).click();
  await inView(page.getByRole('button', { name: '1 like', pressed: true }));
  page.check();
});

test('changes that were not saved are marked when they return', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'As it is published');
  const edit = page.getByRole('link', { name: 'Edit' });
  const mark = page.getByText('and did not save it.');
  await edit.click();
  await page.getByLabel('Title').fill('As it may become');
  assert.equal(await mark.count(), 0);
  await page.getByRole('link', { name: 'Back to the post' }).click();
  await edit.click();
  await inView(mark);
  await page.axe();
  assert.equal(await page.getByLabel('Title').inputValue(), 'As it may become');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await mark.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Title').inputValue(), 'As it is published');

  await page.getByRole('link', { name: 'Back to the post' }).click();
  await page.getByLabel('Your comment').fill('Said.');
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  const comment = page.getByRole('listitem').filter({ has: page.getByRole('article') });
  await comment.getByRole('button', { name: 'Edit' }).click();
  await comment.getByLabel('Your comment').fill('Meant.');
  assert.equal(await mark.count(), 0);
  await page.reload();
  await inView(comment.getByText('Said.'));
  await comment.getByRole('button', { name: 'Edit' }).click();
  await inView(mark);
  await page.axe();
  assert.equal(await comment.getByLabel('Your comment').inputValue(), 'Meant.');
  await comment.getByRole('button', { name: 'Cancel' }).click();
  await inView(comment.getByText('Said.'));
  page.check();
});

test('a sign-in without an answer ends with a sentence', async () => {
  const page = await open(at('/sign-in'));
  await page.clock.install();
  await page.route('**/development/token', () => {}); // the server is silent
  const asked = page.waitForRequest('**/development/token');
  const signInNow = page.getByRole('main').getByRole('button', { name: 'Sign in' });
  await signInNow.click();
  await asked;
  await page.clock.fastForward(21_000);
  await inView(page.getByRole('alert').getByText('The server does not answer.'));
  await page.unroute('**/development/token');
  await page.getByRole('button', { name: 'Try again' }).click();
  await inView(page.getByRole('banner').getByRole('link', { name: 'anna' }));

  const graphiql = await open(at('/playground'));
  await graphiql.route('**/development/token', (route) => route.abort());
  await graphiql.getByRole('toolbar').getByRole('button', { name: 'Sign in' }).click();
  await graphiql.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await inView(graphiql.getByRole('alert').getByText('The server does not answer.'));
});
