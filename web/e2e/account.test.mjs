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
  for (let tries = 0; tries < 100 && (await page.getByRole('article').count()) > 0; tries++) {
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  await page.getByRole('button', { name: 'Sign in and publish' }).waitFor(); // the blog is empty again
  page.check();
});
