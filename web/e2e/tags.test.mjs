// Tags and the archive of the blog in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inView, isOperation, open, serve, withoutData } from './harness.mjs';

const url = await serve({ users: 20 });
const at = (path) => new URL(path, url).href;
const tagPath = (name) => `/tags/${encodeURIComponent(name)}`;
const thisMonth = () => new Date().toISOString().slice(0, 7);

// Each test signs in with a name of its own.
let names = 0;
async function signIn(page, name = `tagger-${++names}`) {
  await page.goto(at('/sign-in'));
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByRole('link', { name }).waitFor();
  return name;
}

async function fillPost(page, title, tags) {
  await page.goto(at('/write'));
  await page.getByLabel('Title').fill(title);
  await page.getByRole('textbox', { name: 'Text' }).fill('A text.');
  await page.getByRole('textbox', { name: 'Tags' }).fill(tags);
}

async function publish(page, title, tags) {
  await fillPost(page, title, tags);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  return new URL(page.url()).pathname;
}

const tagsOf = (place) => place.getByRole('list', { name: 'Tags' }).getByRole('link').allInnerTexts();
const card = (page, title) => page.getByRole('article').filter({ has: page.getByRole('heading', { level: 2, name: title, exact: true }) });
const isList = (page, name) => page.getByRole('heading', { level: 1, name: `Posts with the tag “${name}”` });

// reloadUntil reloads another reader's page until its list is as it should be. The projector changes
// lists after a moment.
async function reloadUntil(page, isRight) {
  for (let tries = 0; tries < 50; tries++) {
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    if (await isRight()) return;
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  assert.fail(`${page.url()}: ${await page.getByRole('main').innerText()}`);
}

// isOperation selects the requests of one GraphQL operation.

// changeAnswers changes what the server answers to an operation.
const changeAnswers = (page, name, change) =>
  page.route('**/graphql', async (route) => {
    if (!isOperation(name)(route.request())) return route.continue();
    const response = await route.fetch();
    const json = await response.json();
    change(json.data);
    await route.fulfill({ response, json });
  });

async function isGood(page) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${page.url()} is ${overflow} px too wide`);
  await page.axe();
  page.check();
}

test('tags of a new post: on its card, on its page, and the pages of the tags', async () => {
  const page = await open(url);
  const other = await open(url);
  await signIn(page);
  const tags = ['sea', 'nordsee-2026', 'עברית', 'हिन्दी', '日本語'];
  const path = await publish(page, 'A tagged day', 'sea, nordsee-2026 עברית،हिन्दी、日本語 ');
  assert.deepEqual(await tagsOf(page.getByRole('article')), tags);
  await page.getByRole('link', { name: 'cosmosblog' }).click();
  await card(page, 'A tagged day').waitFor();
  assert.deepEqual(await tagsOf(card(page, 'A tagged day')), tags);

  // Its author sees it on the page of each tag at once, and others after a moment.
  for (const name of tags) {
    await card(page, 'A tagged day').getByRole('link', { name, exact: true }).click();
    await isList(page, name).waitFor();
    assert.equal(new URL(page.url()).pathname, tagPath(name));
    await inView(card(page, 'A tagged day').getByRole('heading'));
    await other.goto(at(tagPath(name)));
    await reloadUntil(other, async () => (await card(other, 'A tagged day').count()) === 1);
    await other.getByText('1 post', { exact: true }).waitFor();
    assert.deepEqual(await tagsOf(card(other, 'A tagged day')), tags);
  }
  await card(other, 'A tagged day').getByText('0 comments').waitFor();
  await card(other, 'A tagged day').getByRole('heading').getByRole('link').click();
  await other.getByRole('heading', { name: 'Comments 0' }).waitFor();
  assert.equal(new URL(other.url()).pathname, path);
  assert.deepEqual(await tagsOf(other.getByRole('article')), tags);
  await isGood(page);
  await isGood(other);
});

test('edited tags', async () => {
  const page = await open(url);
  await signIn(page);
  await page.goto(at('/tags/after'));
  await page.getByText('No post has this tag.').waitFor();
  const path = await publish(page, 'Filed anew', 'before stays');
  await page.getByRole('link', { name: 'before' }).click();
  await card(page, 'Filed anew').waitFor();
  await card(page, 'Filed anew').getByRole('heading').getByRole('link').click();
  await page.getByRole('link', { name: 'Edit' }).click();
  assert.equal(await page.getByRole('textbox', { name: 'Tags' }).inputValue(), 'before stays');
  await page.getByRole('textbox', { name: 'Tags' }).fill('stays after');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Filed anew' }).waitFor();
  await page.getByRole('article').getByRole('link', { name: 'after' }).waitFor();
  assert.deepEqual(await tagsOf(page.getByRole('article')), ['stays', 'after']);

  // The page of the new tag has the post at once, and that of the old tag has it no longer.
  await page.getByRole('article').getByRole('link', { name: 'after' }).click();
  await card(page, 'Filed anew').waitFor();
  await page.goto(at('/tags/before'));
  await isList(page, 'before').waitFor();
  await page.getByText('No post has this tag.').waitFor();
  assert.equal(await card(page, 'Filed anew').count(), 0);
  await page.goto(at('/tags/after'));
  await page.getByText('1 post', { exact: true }).waitFor();
  assert.equal(await card(page, 'Filed anew').count(), 1);
  await isGood(page);

  // So it is after all tags are removed, and after the post is deleted.
  await page.goto(at(`${path}/edit`));
  await page.getByRole('textbox', { name: 'Tags' }).fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Filed anew' }).waitFor();
  await page.getByText('edited').waitFor();
  assert.equal(await page.getByRole('list', { name: 'Tags' }).count(), 0);
  await page.goto(at('/tags/after'));
  await page.getByText('No post has this tag.').waitFor();
  assert.equal(await card(page, 'Filed anew').count(), 0);
});

test('a reader who goes back after an edit or a deletion finds lists as they are now', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'Moved between lists', 'here');
  await page.getByRole('article').getByRole('link', { name: 'here' }).click();
  await card(page, 'Moved between lists').waitFor();
  await page.getByText('1 post', { exact: true }).waitFor();
  await card(page, 'Moved between lists').getByRole('heading').getByRole('link').click();
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Tags' }).fill('there');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('article').getByRole('link', { name: 'there' }).click();
  await card(page, 'Moved between lists').waitFor();
  for (let step = 0; step < 4; step++) await page.goBack(); // over the post, the form and the post
  await isList(page, 'here').waitFor();
  await page.getByText('No post has this tag.').waitFor();
  assert.equal(await card(page, 'Moved between lists').count(), 0);

  for (let step = 0; step < 4; step++) await page.goForward();
  await isList(page, 'there').waitFor();
  await card(page, 'Moved between lists').getByRole('heading').getByRole('link').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete post' }).click();
  await page.getByRole('heading', { name: 'Recent posts' }).waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByText('No post has this tag.').waitFor();
  page.check();
});

test('faults of tags are beside their field', async () => {
  const page = await open(url, { viewport: { width: 390, height: 844 } });
  await signIn(page);
  const field = page.getByRole('textbox', { name: 'Tags' });
  const description = () =>
    field.evaluate((field) => field.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).innerText).join('\n'));
  async function rejected(text, ...messages) {
    await field.fill(text);
    await page.getByRole('button', { name: /Publish|Save/ }).click();
    for (const message of messages) await page.getByText(message).waitFor();
    await field.and(page.locator('[aria-invalid=true]:focus')).waitFor();
    for (const message of messages) assert.ok((await description()).includes(message), await description());
    assert.equal(await page.getByRole('alert').count(), 0);
  }
  await fillPost(page, 'With faults', '');
  await rejected('fine Capital', '“Capital”: A tag must not have capitals.');
  await isGood(page);
  await rejected('a b c d e f', 'A post must have at most 5 tags.');
  await rejected('One two Three', '“One”: A tag must not have capitals.', '“Three”: A tag must not have capitals.');
  await rejected('c++ one one', '“c++”: A tag must have 1 to 30 letters', '“one”: The post has this tag twice.');
  await isGood(page);
  await page.keyboard.type('x');
  await page.getByText('The post has this tag twice.').waitFor({ state: 'detached' });

  // A letter and its mark become one character.
  await field.fill('zu\u0308rich');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: 'With faults' }).waitFor();
  assert.deepEqual(await tagsOf(page.getByRole('article')), ['z\u00fcrich']);
  await page.getByRole('link', { name: 'Edit' }).click();
  await rejected('zürich Again', '“Again”: A tag must not have capitals.');
  page.check();
});

test('a draft keeps its tags, and a draft of an older program has none', async () => {
  const page = await open(url);
  const name = await signIn(page);
  await fillPost(page, 'Kept', 'kept too');
  await page.reload();
  assert.equal(await page.getByRole('textbox', { name: 'Tags' }).inputValue(), 'kept too');
  await page.evaluate((key) => localStorage.setItem(key, JSON.stringify({ values: { title: 'Old', content: 'Text' }, key: 'k' })), `cosmosblog.draft/${name}/post`);
  await page.reload();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Old');
  assert.equal(await page.getByRole('textbox', { name: 'Tags' }).inputValue(), '');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { level: 1, name: 'Old' }).waitFor();
  page.check();
});

test('an edit that conflicts shows the published tags', async () => {
  const page = await open(url);
  const name = await signIn(page);
  const path = await publish(page, 'Tagged twice', 'first');
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Tags' }).fill('mine');
  const other = await open(url);
  await signIn(other, name);
  await other.goto(at(`${path}/edit`));
  await other.getByRole('textbox', { name: 'Tags' }).fill('theirs');
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByRole('article').getByRole('link', { name: 'theirs' }).waitFor();

  await page.getByRole('button', { name: 'Save' }).click();
  const published = page.getByRole('region', { name: 'The published text' });
  await published.getByRole('link', { name: 'theirs' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Tags' }).inputValue(), 'mine');
  await isGood(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('article').getByRole('link', { name: 'mine' }).waitFor();
  page.check();
});

test('the archive has the month of a post, and the tags that most posts have', async () => {
  const page = await open(url);
  await signIn(page);
  await publish(page, 'For the archive', 'filed');
  await page.getByRole('banner').getByRole('link', { name: 'Archive' }).click();
  const months = page.getByRole('region', { name: 'Months' }).getByRole('link');
  assert.equal(await months.first().getAttribute('href'), `/archive/${thisMonth()}`);
  const paths = await months.evaluateAll((all) => all.map((link) => link.pathname));
  assert.deepEqual(paths, paths.toSorted().toReversed());
  const tags = page.getByRole('list', { name: 'Most used tags' }).getByRole('link');
  assert.equal(await tags.count(), 20);
  const counts = await tags.evaluateAll((all) => all.map((link) => parseInt(link.querySelector('bdi').nextElementSibling.textContent)));
  assert.deepEqual(counts, counts.toSorted((a, b) => b - a));
  await isGood(page);

  await months.first().click();
  await page.getByRole('heading', { level: 1, name: /^Posts of \p{L}+ \d{4}$/u }).waitFor();
  await page.getByText(/^\d+ posts?$/).waitFor();
  await card(page, 'For the archive').waitFor();
  assert.deepEqual(await tagsOf(card(page, 'For the archive')), ['filed']);
  await isGood(page);
});

test('months before the latest hundred', async () => {
  const page = await open(url);
  const month = (number) => `${2100 - Math.floor(number / 12)}-${String(12 - (number % 12)).padStart(2, '0')}`;
  await page.route('**/graphql', (route) => {
    if (!isOperation('Archive')(route.request())) return route.continue();
    const { before } = route.request().postDataJSON().variables;
    const [from, to] = before ? [100, 130] : [0, 100];
    assert.ok(!before || before === month(99), before);
    const archiveMonths = Array.from({ length: to - from }, (_, i) => ({ __typename: 'ArchiveMonth', month: month(from + i), postCount: 1 }));
    return route.fulfill({ json: { data: { __typename: 'Query', archiveMonths, ...(!before && { tags: [] }) } } });
  });
  await withoutData(page);
  await page.goto(at('/archive'));
  const months = page.getByRole('region', { name: 'Months' }).getByRole('link');
  await months.nth(99).waitFor();
  await page.getByRole('button', { name: 'Show earlier months' }).press('Enter');
  await months.nth(100).and(page.locator(':focus')).waitFor();
  assert.equal(await months.count(), 130);
  assert.equal(await page.getByRole('button', { name: 'Show earlier months' }).count(), 0);
  await isGood(page);
});

test('the page of a tag to its end, and back to the same place', async () => {
  const page = await open(at('/archive'));
  await page.getByRole('list', { name: 'Most used tags' }).getByRole('link').first().click();
  await page.getByRole('article').nth(19).waitFor();
  const n = parseInt(await page.getByText(/^\d+ posts$/).innerText());
  assert.ok(n > 40, `${n} posts`);
  while ((await page.getByRole('article').count()) < n) await page.getByRole('article').last().scrollIntoViewIfNeeded();
  const links = await page.getByRole('article').getByRole('heading').getByRole('link').evaluateAll((all) => all.map((link) => link.href));
  assert.equal(new Set(links).size, n);
  const place = page.getByRole('article').nth(n - 3).getByRole('heading').getByRole('link');
  await place.scrollIntoViewIfNeeded();
  await place.click();
  await page.getByRole('heading', { name: /^Comments/ }).waitFor();
  await page.goBack();
  await inView(place);
  page.check();
});

test('a post whose numbers could not be read has a card without them', async () => {
  const page = await open(url);
  await changeAnswers(page, 'Tag', ({ tag }) => {
    Object.assign(tag.posts.edges[0].node, { commentCount: null, likeCount: null, recentComments: null });
  });
  await withoutData(page);
  await page.goto(at('/tags/mistakes'));
  await page.getByRole('article').nth(1).getByText(/comment/).first().waitFor();
  assert.equal(await page.getByRole('article').first().getByText(/\d (like|comment)/).count(), 0);
  await isGood(page);
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    test(`the pages of tags and months, ${colorScheme}, ${width} px`, async () => {
      const page = await open(at('/archive'), { colorScheme, viewport: { width, height: 844 } });
      await page.getByRole('region', { name: 'Months' }).getByRole('link').first().waitFor();
      await isGood(page);
      await page.getByRole('list', { name: 'Most used tags' }).getByRole('link').first().click();
      await page.getByRole('article').nth(19).waitFor();
      await isGood(page);
      await page.goto(at('/archive/2025-12'));
      await page.getByRole('heading', { level: 1, name: 'Posts of December 2025' }).waitFor();
      await page.getByRole('article').nth(19).waitFor();
      await isGood(page);
      for (const [path, title, text] of [
        ['/tags/nobody-has-this', 'Posts with the tag “nobody-has-this”', 'No post has this tag.'],
        ['/archive/2020-01', 'Posts of January 2020', 'This month has no posts.'],
        ['/tags/Capital', 'There is no such tag', 'A tag must not have capitals.'],
        ['/tags/a%2Fb', 'There is no such tag', 'A tag must have 1 to 30 letters'],
        ['/tags/%E6%97', 'There is no such tag', 'A tag must have 1 to 30 letters'], // half a character
        ['/archive/2026-13', 'There is no such month', 'A month must have the form YYYY-MM'],
      ]) {
        await page.goto(at(path));
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await page.getByText(text).waitFor();
        await isGood(page);
      }
      await signIn(page);
      await page.getByRole('banner').getByRole('link', { name: 'Archive' }).waitFor();
      await publish(page, `Long tags, ${colorScheme}, ${width} px`, ['w'.repeat(30), 'ש'.repeat(30), '字'.repeat(30), 'ẘ'.repeat(30), 'x'].join(' '));
      await isGood(page);
      await page.getByRole('link', { name: 'w'.repeat(30) }).click();
      await card(page, `Long tags, ${colorScheme}, ${width} px`).waitFor();
      await isGood(page);
    });
  }
}
