// What a reader decides of the account: who deletes oneself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, serve } from './harness.mjs';

const url = await serve();

test('a user deletes themselves, and their posts go', async () => {
  const page = await open(url);
  await page.getByRole('button', { name: 'Sign in and publish' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'anna' }).click();
  await page.getByRole('button', { name: 'Delete yourself' }).click();
  await page.getByLabel('Your name').fill('ben');
  await page.getByRole('button', { name: 'Delete me for good' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await page.axe();
  await page.getByLabel('Your name').fill('anna');
  await page.getByRole('button', { name: 'Delete me for good' }).click();
  await page.getByText('You are deleted.').waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).or(page.getByRole('button', { name: 'Sign in and publish' })).first().waitFor();
  const empty = page.getByRole('button', { name: 'Sign in and publish' });
  for (let tries = 0; tries < 100; tries++) {
    await page.getByRole('article').or(empty).first().waitFor();
    if ((await empty.count()) > 0) break;
    await page.reload();
  }
  await empty.waitFor(); // the blog is empty again
  page.check();
});
