// What goes wrong, and what a reader then sees of it: within the window, and not merely in the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = await serve({ users: 20 });
const at = (path) => new URL(path, url).href;
const phone = { viewport: { width: 390, height: 844 } };

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
const isOperation = (name) => (request) => request.postDataJSON()?.operationName === name;

// inView waits until an element is in the window as a whole, and nothing covers its middle.
async function inView(locator) {
  await locator.waitFor();
  await locator.evaluate(async (element) => {
    const isSeen = () => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return false;
      const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return element.contains(seen) || seen?.contains(element);
    };
    const end = performance.now() + 5000;
    while (!isSeen()) {
      if (performance.now() > end) throw new Error(`not in view: ${element.outerHTML.slice(0, 200)}`);
      await new Promise(requestAnimationFrame);
    }
  });
}

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
