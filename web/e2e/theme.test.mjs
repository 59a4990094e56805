// The theme of the blog: the system's, or the reader's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = await serve();
const background = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

test('a reader chooses a theme, in all tabs, until it is the system\'s again', async () => {
  const page = await open(url, { colorScheme: 'light' });
  await page.getByRole('button', { name: 'Sign in and publish' }).waitFor();
  const light = await background(page);
  const tab = await page.context().newPage();
  await tab.goto(url);
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await tab.getByRole('button', { name: 'Light theme' }).waitFor();
  const dark = await background(page);
  assert.notEqual(dark, light);
  assert.equal(await background(tab), dark);
  await page.axe();
  await page.reload();
  await page.getByRole('button', { name: 'Light theme' }).waitFor();
  assert.equal(await background(page), dark);
  await page.getByRole('button', { name: 'Light theme' }).click();
  await page.getByRole('button', { name: 'Dark theme' }).waitFor();
  assert.equal(await background(page), light);
  await page.emulateMedia({ colorScheme: 'dark' }); // the page follows the system again
  await page.getByRole('button', { name: 'Light theme' }).waitFor();
  assert.equal(await background(page), dark);
  page.check();
});
