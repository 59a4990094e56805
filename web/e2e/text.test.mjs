// Texts in Markdown: every element, hostile texts, excerpts and the preview.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = await serve();
const at = (path) => new URL(path, url).href;
const kib256 = 256 * 1024;
const filled = (text) => text.repeat(Math.ceil(kib256 / text.length)).slice(0, kib256);

const post = async (path, body, token) => {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  return (await fetch(at(path), { method: 'POST', headers, body: JSON.stringify(body) })).json();
};
const { token } = await post('/development/token', { name: 'author' });
const ask = async (query, variables) => {
  const { data, errors } = await post('/graphql', { query, variables }, token);
  assert.equal(errors, undefined);
  return data;
};
await ask('mutation { createUser(input: { username: "author" }) { user { id } } }');
const publish = async (content, title = 'A text') => {
  const create = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
  return `/posts/${(await ask(create, { input: { title, content } })).createPost.post.id}`;
};

// textOf opens a post, and returns its text.
async function textOf(page, content) {
  await page.goto(at(await publish(content)));
  const text = page.getByRole('article').locator('header + div');
  await page.locator('header + div:not([aria-busy])').waitFor();
  return text;
}

const all = `# First

A *soft* and **strong** text with \`code\`, a [link](https://example.com/a?b=1&c "Title"), &amp; and https://example.org/x.
The next line.

## Second

- one
- two
  1. inner

3) third

> A quote
> > within a quote

\`\`\`js
const x = "<b>";
\`\`\`

    indented

***

![A picture](https://images.example.com/x.png) <script>alert(1)</script> <img src=x onerror=alert(2)>
`;

test('a text has all elements, and links are safe', async () => {
  const page = await open(url);
  const text = await textOf(page, all);
  const wanted = { h2: 1, h3: 1, em: 1, strong: 1, code: 1, ul: 1, ol: 2, li: 4, blockquote: 2, pre: 2, hr: 1, img: 0, script: 0, a: 3 };
  const counts = await text.evaluate((element, names) => names.map((name) => element.querySelectorAll(name).length), Object.keys(wanted));
  assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name, i) => [name, counts[i]])), wanted);
  const links = await text.getByRole('link').evaluateAll((links) => links.map(({ href, rel, textContent }) => [href, rel, textContent]));
  const rel = 'nofollow ugc noreferrer';
  assert.deepEqual(links, [
    ['https://example.com/a?b=1&c', rel, 'link'],
    ['https://example.org/x', rel, 'https://example.org/x'],
    ['https://images.example.com/x.png', rel, 'A picture'],
  ]);
  assert.match(await text.innerText(), /, & and https:\/\/example\.org\/x\.\nThe next line\./);
  assert.match(await text.innerText(), /<script>alert\(1\)<\/script> <img src=x onerror=alert\(2\)>/);
  assert.equal(await text.locator('ol[start="3"]').count(), 1);
  assert.equal((await text.locator('pre').first().innerText()).trim(), 'const x = "<b>";');
  await page.axe();
  page.check();
});

test('the marks of lists and quotes are where their text begins', async () => {
  const page = await open(url);
  const text = await textOf(page, '- من اليمين\n\n> من اليمين\n\n1. From the left');
  const sides = await text.locator('ul, blockquote, ol').evaluateAll((all) => all.map((element) => getComputedStyle(element).direction));
  assert.deepEqual(sides, ['rtl', 'rtl', 'ltr']);
});

test('links that run or read something are no links', async () => {
  const page = await open(url);
  const hostile = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java&#10;script:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', 'blob:x', ' javascript:x'];
  const text = await textOf(page, hostile.map((href) => `[x](${href}) [x](<${href}>) <${href}> ![x](${href})`).join('\n\n'));
  const schemes = await text.getByRole('link').evaluateAll((links) => links.map(({ protocol }) => protocol));
  assert.deepEqual(schemes.filter((scheme) => !/^https?:$/.test(scheme)), []);
  page.check();
});

test('a link whose path looks like another host is left to the browser', async () => {
  const page = await open(url);
  const text = await textOf(page, `[x](${at('/')}/other.example/x)`);
  const isLeft = text.getByRole('link').evaluate(
    (link) =>
      new Promise((resolve) => {
        addEventListener('click', (event) => {
          resolve(!event.defaultPrevented);
          event.preventDefault();
        });
        link.click();
      }),
  );
  assert.equal(await isLeft, true);
  page.check();
});

test('a text without marks keeps its lines and paragraphs', async () => {
  const page = await open(url);
  const text = await textOf(page, 'One,\ntwo.\n\nThree at https://example.com/.');
  assert.deepEqual(await text.locator('p').allInnerTexts(), ['One,\ntwo.', 'Three at https://example.com/.']);
  const { requests } = { requests: await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)) };
  assert.equal(requests.filter((name) => /parse-/.test(name)).length, 0); // the parser is not needed
  page.check();
});

for (const [name, content] of Object.entries({
  'ten thousand quotes': `${'>'.repeat(10_000)} a`,
  'nested lists': Array.from({ length: 400 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n'),
  emphasis: filled('*a '),
  brackets: filled('['),
  quotes: filled('>>>>>>>>>>a\n'),
  items: filled('1. a\n'),
  paragraphs: filled('a\n\n'),
  addresses: filled('https://a.example '),
})) {
  test(`${name}: the text is shown as it was written, and the page goes on`, async () => {
    const page = await open(url);
    const text = await textOf(page, content);
    const lines = (value) => value.replaceAll(/\s+/g, ' ').trim();
    assert.equal(lines(await text.evaluate((element) => element.textContent)), lines(content));
    assert.equal(await text.evaluate((element) => element.querySelectorAll('*').length), 1);
    await page.getByRole('link', { name: 'author' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'author' }).waitFor();
    page.check();
  });
}

test('excerpts have no marks', async () => {
  await publish('# Heading\n\nSome **strong** and *soft* text, a [link](https://example.com/a_(b)), `code`, snake_case_name and 2 * 3.\n\n- item', 'Excerpt');
  const page = await open(url);
  const card = page.getByRole('article').filter({ hasText: 'Excerpt' });
  for (let tries = 0; tries < 50 && (await card.count()) === 0; tries++) await page.reload();
  await card.getByText('Heading Some strong and soft text, a link, code, snake_case_name and 2 * 3. item').waitFor();
  page.check();
});

test('an author sees a preview', async () => {
  const page = await open(at('/sign-in'));
  await page.getByLabel('Your name').fill('author');
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'author' }).waitFor();
  await page.goto(at('/write'));
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('textbox', { name: 'Text' }).fill('## Hello\n\n**World**');
  await page.getByRole('heading', { level: 2, name: 'Hello' }).waitFor();
  await page.locator('strong', { hasText: 'World' }).waitFor();
  await page.axe();
  await page.getByRole('button', { name: 'Hide the preview' }).click();
  assert.equal(await page.getByRole('heading', { level: 2 }).count(), 0);
  page.check();
});
