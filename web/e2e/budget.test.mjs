// The sizes and the stability of the blog's pages, on a slow machine with a slow network. Bytes and
// shifts have budgets; times are printed, because they depend on the machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const scriptBudget = 60_000; // compressed bytes of the first load
const pages = [
  ['an empty blog', {}, () => '/'],
  ['the feed', { users: 20 }, () => '/'],
  ['the feed, signed in', { users: 3 }, signIn],
  ['a post', { users: 3 }, (page) => page.getByRole('article').getByRole('heading').getByRole('link').first().getAttribute('href')],
  ['a tag', { users: 3 }, (page) => page.getByRole('list', { name: 'Tags' }).getByRole('link').first().getAttribute('href')],
  ['the archive', { users: 3 }, () => '/archive'],
  ['a user', { users: 3 }, (page) => page.getByRole('article').locator('a[href^="/users/"]').first().getAttribute('href')],
];

async function signIn(page) {
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'anna' }).waitFor();
  return '/';
}

for (const [name, data, pathOf] of pages) {
  test(`${name}, processor at a quarter, 1.6 Mbit/s, 150 ms`, async (t) => {
    const url = await serve(data);
    const page = await open(url);
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    const path = await pathOf(page);

    await page.addInitScript(() => {
      const figures = (window.figures = { firstPaint: 0, largestPaint: 0, tasks: [], shift: 0, shifted: [] });
      const observe = (type, add) =>
        new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type, buffered: true });
      observe('paint', ({ name, startTime }) => {
        if (name === 'first-contentful-paint') figures.firstPaint = startTime;
      });
      observe('largest-contentful-paint', ({ startTime }) => (figures.largestPaint = startTime));
      observe('longtask', ({ startTime, duration }) => figures.tasks.push({ startTime, duration }));
      observe('layout-shift', ({ value, hadRecentInput, sources }) => {
        if (hadRecentInput) return;
        figures.shift += value;
        figures.shifted.push(...sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 200)));
      });
    });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.enable');
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: 1_600_000 / 8,
      uploadThroughput: 750_000 / 8,
    });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const files = new Map();
    const bytes = { Script: 0, Stylesheet: 0, Font: 0 };
    devtools.on('Network.responseReceived', ({ requestId, type, response }) => files.set(requestId, { type, url: response.url }));
    const counted = new Set(); // without its cache, a slow browser loads a module for its preload, and again for its import
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const { type, url } = files.get(requestId) ?? {};
      if (counted.has(url)) return;
      counted.add(url);
      bytes[type] += encodedDataLength;
    });

    await page.goto(new URL(path, url).href);
    await page.locator('footer strong').waitFor(); // an answer is there
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.waitForLoadState('networkidle');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

    const figures = await page.evaluate(() => window.figures);
    const blocked = figures.tasks
      .filter(({ startTime }) => startTime > figures.firstPaint)
      .reduce((sum, { duration }) => sum + duration - 50, 0);
    const ms = (value) => `${Math.round(value)} ms`;
    t.diagnostic(
      `first paint ${ms(figures.firstPaint)}, largest paint ${ms(figures.largestPaint)}, blocked ${ms(blocked)}, ` +
        `shift ${figures.shift}, scripts ${bytes.Script} bytes, styles ${bytes.Stylesheet}, font ${bytes.Font}`,
    );
    assert.ok(bytes.Script > 0 && bytes.Script <= scriptBudget, `${bytes.Script} bytes of scripts`);
    assert.equal(figures.shift, 0, `shifted: ${figures.shifted.join('\n')}`);
    page.check();
  });
}
