// GraphiQL at /playground.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = (await serve({ users: 20 })) + '/playground';

// known are the faults of GraphiQL itself: its tabs contain their close buttons, some colours of its
// editor's themes have too little contrast, and the entries of the history have another name for
// screen readers.
const known = [
  { id: 'label-content-name-mismatch', within: '.graphiql-history-item' },
  { id: 'nested-interactive', within: '.graphiql-tab' },
  { id: 'color-contrast', within: '.monaco-editor' },
];

// explore opens GraphiQL, and waits until its editors are there.
async function explore(at = url, options) {
  const page = await open(at, options);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.locator('.graphiql-editor-tool .view-line').first().waitFor();
  return page;
}

const asksForPrice = (request) => request.headers()['x-cosmos-diagnostics'] === 'price';

// isOfTab selects the requests that execute the operation of a tab. Those of the page itself have no
// operation name, or ask for the schema or a price.
const isOfTab = (request) =>
  ![undefined, 'IntrospectionQuery'].includes(request.postDataJSON()?.operationName) && !asksForPrice(request);

// run executes the operation of the tab that is shown, and returns its answer.
async function run(page) {
  const [response] = await Promise.all([
    page.waitForResponse((response) => response.url().endsWith('/graphql') && isOfTab(response.request())),
    page.getByRole('button', { name: 'Execute query' }).click(),
  ]);
  return response.json();
}

const panel = (page, name) => page.getByRole('button', { name: `Show ${name}` }).click();

const tabs = (page) => page.getByRole('tab').allInnerTexts();

// enter replaces the text of an editor. A space comes first, because the editor would close a brace.
async function enter(page, editor, text) {
  await page.getByRole('region', { name: editor }).locator('.monaco-editor:visible').first().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(` ${text}`);
}

// example opens an example, and waits until its variables have ids. At first, the editor still shows those of the
// tab before.
async function example(page, name) {
  await page.getByRole('listitem').getByRole('button', { name }).click();
  const variables = page.getByRole('region', { name: 'Variables' }).locator('.view-lines').first();
  await variables.evaluate(async (lines) => {
    for (let frames = 0; frames < 30; frames++) {
      if (lines.textContent.includes('""')) frames = 0;
      await new Promise(requestAnimationFrame);
    }
  });
}

async function signIn(page, name) {
  await page.getByRole('toolbar').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
}

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    test(`a query and its charge, ${colorScheme}, ${width} px`, async () => {
      const page = await explore(url, { colorScheme, viewport: { width, height: 844 } });
      await page.getByText('price 9.3 RU').waitFor();
      await page.axe(known);
      const { data, extensions } = await run(page);
      assert.equal(extensions.cosmos.estimate, 9.3);
      assert.equal(data.feed.nodes.length, 20);
      const charge = extensions.cosmos.requestCharge.toLocaleString('en', { maximumFractionDigits: 2 });
      await page.getByRole('status').getByRole('button', { name: `${charge} RU` }).waitFor();
      const [kept] = (await run(page)).extensions.cosmos.requests;
      await page.getByRole('status').getByRole('button', { name: '0 RU', exact: true }).click();
      const rows = page.getByRole('region', { name: 'Requests to Cosmos DB' }).getByRole('row');
      assert.equal(await rows.count(), 1 + extensions.cosmos.requests.length);
      const saved = (await rows.nth(1).innerText()).match(/feed\s+query in feed\s+post\s+cached\s+saved ([\d.]+)$/)?.[1];
      assert.equal(saved, kept.savedCharge.toFixed(2));
      await page.axe(known);

      const [red, green, blue] = await page
        .locator('.graphiql-container')
        .evaluate((element) => getComputedStyle(element).backgroundColor.match(/\d+/g).map(Number));
      assert.equal(red + green + blue < 3 * 128, colorScheme === 'dark');
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
      page.check();
    });
  }
}

test('an example takes the place of one that is untouched, and of nothing else', async () => {
  const page = await explore();
  assert.deepEqual(await tabs(page), ['Feed']);
  await example(page, 'Q1');
  await example(page, 'Q2');
  assert.deepEqual(await tabs(page), ['Post']);
  await run(page); // its answer must stay
  await example(page, 'Q4');
  assert.deepEqual(await tabs(page), ['Post', 'Comments']);
  await enter(page, 'Variables', '{"postId": "mine"}');
  await example(page, 'Q6');
  await enter(page, 'Operation Editor', '{ tags { name } }');
  await example(page, 'T2'); // at once: GraphiQL copies what is typed into its tab after a moment
  await page.getByRole('tab', { name: 'Archive' }).waitFor();
  await page.getByRole('tab', { name: '<untitled>' }).waitFor();
  assert.deepEqual(await tabs(page), ['Post', 'Comments', '<untitled>', 'Archive']);

  await example(page, 'Q4'); // is open
  assert.deepEqual(await tabs(page), ['Post', 'Comments', '<untitled>', 'Archive']);
  await page.getByRole('region', { name: 'Variables' }).getByText('"mine"').waitFor();
  await page.getByRole('tab', { name: 'untitled' }).click();
  await page.getByRole('region', { name: 'Operation Editor' }).getByText('tags').waitFor();
  await page.getByRole('tab', { name: 'Post', exact: true }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('"content"').waitFor();
  await page.getByRole('button', { name: 'New tab' }).click();
  await example(page, 'Q5');
  assert.deepEqual(await tabs(page), ['Post', 'Comments', '<untitled>', 'Archive', 'Likes']);
  page.check();
});

test('the price is shown before the operation runs', async () => {
  const page = await explore();
  const priced = [];
  const executed = [];
  page.on('request', (request) => {
    if (request.method() !== 'POST') return;
    (asksForPrice(request) ? priced : executed).push(request);
  });
  await signIn(page, 'anna');
  await example(page, 'C1');
  const price = page.locator('.price');
  await page.getByText(/^price [\d.]+ RU$/).waitFor();
  await enter(page, 'Operation Editor', 'query Mine { feed(first: 50) { nodes { id } } }');
  await page.getByText('price 19.2 RU').waitFor();
  assert.equal(await price.getAttribute('title'), 'Query.feed costs most.');
  assert.deepEqual(executed.map((request) => request.postDataJSON().operationName).filter(Boolean), []);
  assert.ok(priced.every((request) => request.headers().authorization === undefined));

  const before = priced.length;
  await enter(page, 'Operation Editor', 'query Mine { feed(first: 50) { nodes { no } } }');
  await price.waitFor({ state: 'detached' });
  await enter(page, 'Operation Editor', 'query Mine($n: Int) { feed(first: $n) { nodes { id } } }');
  await enter(page, 'Variables', '{"n": ');
  await enter(page, 'Variables', '{"n": 1}');
  await page.getByText('price 3.03 RU').waitFor();
  assert.ok(priced.slice(before).every((request) => request.postData().includes('$n')), 'only valid operations');

  await enter(page, 'Operation Editor', 'query Mine { feed(first: 100) { nodes { comments(first: 100) { nodes { id } } } } }');
  await price.getByText('limit 500 RU').waitFor();
  assert.match(await price.innerText(), /^price 1,[\d.]+ RU, limit 500 RU$/);
  await page.axe(known);
  assert.equal((await run(page)).errors[0].extensions.code, 'COST_LIMIT_EXCEEDED');
  page.broken.splice(0); // the browser logs the status 400
  page.check();
});

test('the answer shows its extensions folded, and has them when it is copied', async () => {
  const page = await explore(url, { permissions: ['clipboard-read', 'clipboard-write'] });
  await enter(page, 'Operation Editor', '{ feed(first: 1) { nodes { title } } }');
  await page.getByText('price 3.03 RU').waitFor();
  const shown = page.getByRole('region', { name: 'Result Window' });
  for (let runs = 0; runs < 2; runs++) {
    await page.getByRole('button', { name: 'Execute query' }).click();
    await shown.locator('.inline-folded').waitFor();
    await shown.getByText('"extensions"').waitFor();
    await shown.getByText('"requestCharge"').first().waitFor({ state: 'hidden' }); // until a new answer is folded
    assert.ok(await shown.getByText('"title"').isVisible());
  }
  await shown.locator('.view-line').first().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('ControlOrMeta+C');
  const { extensions } = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(extensions.cosmos.estimate, 3.03);
  await shown.locator('.inline-folded').click();
  await shown.getByText('"requestCharge"').first().waitFor();

  await page.route('**/graphql', async (route) => {
    if (asksForPrice(route.request())) return route.continue();
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, extensions: { ...answer.extensions, stale: true } } });
  });
  await page.getByRole('button', { name: 'Execute query' }).click();
  await shown.locator('.inline-folded').first().waitFor();
  await shown.getByText('"stale"').waitFor(); // nothing else shows it
  await shown.getByText('"requestCharge"').first().waitFor({ state: 'hidden' });
  page.check();
});

test('every query of the examples works at the first click', async () => {
  const page = await explore();
  for (const [name, read] of [
    ['Q1', (data) => data.user.username],
    ['Q2', (data) => data.post.content],
    ['Q3', (data) => data.user.posts.nodes.length],
    ['Q4', (data) => data.post.comments.nodes.length],
    ['Q5', (data) => data.post.likes.nodes.length],
    ['Q6', (data) => data.feed.nodes.length],
    ['T1', (data) => data.tags[0].posts.nodes.length],
    ['T2', (data) => data.archiveMonths[0].posts.nodes.length],
  ]) {
    await example(page, name);
    const answer = await run(page);
    assert.equal(answer.errors, undefined, name);
    assert.ok(read(answer.data), `${name}: ${JSON.stringify(answer)}`);
    assert.ok(answer.extensions.cosmos, `${name} has no charges`);
  }
  page.check();
});

test('subscriptions show their answers as they come', async () => {
  const page = await explore((await serve({ users: 3 })) + '/playground');
  await signIn(page, 'anna');
  await example(page, 'C1');
  await run(page);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.locator('.graphiql-editor-tool .view-line').first().waitFor();
  const shown = page.getByRole('region', { name: 'Result Window' });

  await example(page, 'S1');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await shown.getByText('"postChanged"').waitFor();
  await example(other, 'C4');
  const { likeCount } = (await run(other)).data.likePost.post;
  await shown.getByText(`"likeCount": ${likeCount}`).waitFor();
  await page.getByRole('status').getByText('live').waitFor();
  await panel(page, 'Request charges');
  await page.getByText('Answers of subscriptions do not show their charges.').waitFor();
  await page.axe(known);
  await panel(page, 'Examples');

  await example(page, 'S2');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.getByRole('button', { name: 'Stop query' }).waitFor();
  await example(other, 'C3');
  await run(other);
  await shown.getByText('"Well said."').waitFor();

  await example(page, 'S3'); // ends the one before
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.getByRole('button', { name: 'Stop query' }).waitFor();
  await example(other, 'C2');
  await run(other);
  await shown.getByText('"One partition is enough"').waitFor();
  await page.getByRole('button', { name: 'Stop query' }).click();
  await page.getByRole('button', { name: 'Execute query' }).waitFor();
  page.check();
});

test('a subscription has the token of the session, or that of its headers', async () => {
  const page = await explore();
  const payloads = [];
  page.on('websocket', (socket) =>
    socket.once('framesent', ({ payload }) => payloads.push(JSON.parse(payload).payload?.Authorization)),
  );
  await signIn(page, 'anna');
  await example(page, 'S1');
  const shown = page.getByRole('region', { name: 'Result Window' });
  await page.getByRole('button', { name: 'Execute query' }).click();
  await shown.getByText('"postChanged"').waitFor();
  await page.getByRole('button', { name: 'Stop query' }).click();
  assert.match(payloads[0], /^Bearer ey/);

  await page.getByRole('button', { name: 'Headers' }).click();
  await page.getByRole('region', { name: 'Headers' }).locator('.monaco-editor:visible').click();
  await page.keyboard.type('{"authorization": "Bearer old');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await shown.getByText('UNAUTHENTICATED').waitFor();
  await page.getByRole('button', { name: 'Execute query' }).waitFor();
  assert.equal(payloads[1], 'Bearer old');
  await page.getByRole('toolbar').getByRole('button', { name: 'Signed in as anna' }).waitFor();
  page.check();
});

test('the examples tell a story in an empty blog', async () => {
  const page = await explore((await serve()) + '/playground');
  await signIn(page, 'anna');
  const answers = {};
  for (const name of ['C1', 'Q1', 'C2', 'Q6', 'Q2', 'Q3', 'C3', 'Q4', 'C4', 'Q5']) {
    await example(page, name);
    // Views follow their sources within moments.
    for (let tries = 0; tries < 50; tries++) {
      answers[name] = await run(page);
      assert.equal(answers[name].errors, undefined, `${name}: ${JSON.stringify(answers[name])}`);
      if (name !== 'Q6' || answers.Q6.data.feed.nodes.length > 0) break;
    }
  }
  assert.equal(answers.C1.data.createUser.user.username, 'anna');
  assert.equal(answers.Q1.data.user.username, 'anna');
  assert.equal(answers.Q2.data.post.title, answers.C2.data.createPost.post.title);
  assert.equal(answers.C3.data.createComment.post.commentCount, 1);
  assert.equal(answers.Q4.data.post.comments.nodes[0].author.username, 'anna');
  assert.equal(answers.C4.data.likePost.post.viewerHasLiked, true);
  assert.equal(answers.Q5.data.post.likes.totalCount, 1);
  page.check();
});

test('a refused command offers to sign in, and to create the user', async () => {
  const page = await explore();
  await example(page, 'C4');
  assert.equal((await run(page)).errors[0].extensions.code, 'UNAUTHENTICATED');
  await page.getByRole('status').getByRole('button', { name: 'Sign in' }).click();
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('é');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('printable ASCII').waitFor();
  await page.axe(known);
  page.broken.splice(0); // the browser logs the status 400

  await name.fill('bea');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  assert.equal((await run(page)).errors[0].extensions.code, 'USER_REQUIRED');
  await page.getByRole('status').getByRole('button', { name: 'Create the user bea' }).click();
  await page.getByText('"viewerHasLiked"').waitFor();
  page.check();
});

test('a token goes with all tabs, and is not in what GraphiQL stores', async () => {
  const page = await explore();
  await signIn(page, 'anna');
  const authorization = async () => {
    const request = page.waitForRequest(isOfTab);
    await run(page);
    return (await request).headers().authorization;
  };
  const token = await authorization();
  assert.match(token, /^Bearer ey/);
  await example(page, 'Q5');
  assert.equal(await authorization(), token);
  await page.waitForFunction(() => {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState'));
    return tabs[activeTabIndex].variables === localStorage.getItem('graphiql:variables');
  });
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, 'cosmosblog.session': undefined }));
  assert.ok(stored.includes('query Likes') && !stored.includes(token.slice('Bearer '.length)));

  await page.reload();
  await page.getByRole('tab', { name: 'Likes' }).click();
  assert.equal(await authorization(), token);
  await page.getByRole('toolbar').getByRole('button', { name: 'Signed in as anna' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  assert.equal(await authorization(), undefined);
  page.check();
});

test('a token that the server no longer accepts is dropped', async () => {
  const page = await explore();
  await page.evaluate(() => localStorage.setItem('cosmosblog.session', '{"name": "anna", "token": "old"}'));
  await page.reload();
  await page.getByRole('toolbar').getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal((await run(page)).data.feed.nodes.length, 20);
  await panel(page, 'Documentation Explorer');
  await page.getByRole('link', { name: 'Query', exact: true }).first().waitFor();
  const [refused] = page.broken.splice(0);
  assert.match(refused, /status of 401/);
  page.check();
});

test('the editor completes names of the schema', async () => {
  const page = await explore();
  await page.getByRole('button', { name: 'New tab' }).click();
  await page.getByRole('region', { name: 'Operation Editor' }).locator('.monaco-editor').first().click();
  await page.keyboard.type('{ fee', { delay: 50 });
  await page.locator('.suggest-widget.visible').getByRole('option', { name: /^feed/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('{ feed').waitFor();
  page.check();
});

test('the docs and the history', async () => {
  const page = await explore();
  await run(page);
  await panel(page, 'Documentation Explorer');
  await page.getByRole('link', { name: 'Query', exact: true }).first().click();
  await page.getByText('They need no sign-in').waitFor();
  await page.axe(known);
  await panel(page, 'History');
  await page.locator('.graphiql-history-item').getByText('Feed').waitFor();
  await page.axe(known);
  page.check();
});
