// The blog in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = await serve({ users: 20 });

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    test(`the feed, ${colorScheme}, ${width} px`, async () => {
      const page = await open(url, { colorScheme, viewport: { width, height: 844 } });
      await page.getByRole('article').nth(19).waitFor();
      assert.equal(await page.getByRole('article').count(), 20);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
      await page.axe();
      page.check();
    });
  }
}

test('every path of the blog is its page', async () => {
  const page = await open(new URL('/posts/nothing', url).href);
  await page.getByRole('banner').waitFor();
  page.check();
});
