// Starts the server and a browser for the tests, and holds every page to the same rules: no violation
// of its policy, no error in the console, no request to another server.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach } from 'node:test';
import { chromium } from 'playwright-core';

const binary = process.env.COSMOSBLOG;
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
// The well-known key of the emulators, which the engine has on loopback.
const engineKey = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';
const environment = { HOME: process.env.HOME, PATH: process.env.PATH };

// nameOf returns the name of the operation that a page of the blog sends by the id of its document.
const documents = JSON.parse(readFileSync(new URL('../app/src/gql/persisted-documents.json', import.meta.url), 'utf8'));
export const nameOf = (request) => operationNameOf(request.postDataJSON()?.documentId);
export const operationNameOf = (id) => documents[id]?.match(/\b(?:query|mutation|subscription) (\w+)/)[1];

// isOperation returns a function that reports whether a request sends the operation of a name.
export const isOperation = (name) => (request) => nameOf(request) === name;

// newFolder returns a data folder, with the sample data of some users. It is removed at the end.
export function newFolder({ users = 0 } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'cosmosblog-e2e-'));
  process.on('exit', () => rmSync(data, { recursive: true, force: true, maxRetries: 5 }));
  if (users > 0) {
    execFileSync(binary, ['seed', '--users', String(users), '--data', data], { env: environment, stdio: 'ignore' });
  }
  return data;
}

// serve starts a server in development on a free port, with the sample data of some users, and
// returns its URL.
export const serve = async (options) => (await start('serve', newFolder(options), '--log-level', 'warn')).url;

// start starts a command that serves a data folder on a free port, unless args name another. It returns
// the command's URL, and functions that stop and kill it. The command ends with this process, which it
// does not keep alive.
export async function start(command, data, ...args) {
  const child = spawn(binary, [command, '--addr', '127.0.0.1:0', '--data', data, ...args], {
    env: { ...environment, COSMOS_KEY: engineKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.prependListener('exit', () => child.kill('SIGKILL'));
  const end = async (signal) => {
    const ends = new Promise((resolve) => child.once('exit', resolve));
    child.ref();
    child.kill(signal);
    await ends;
  };
  for await (const line of createInterface(child.stdout)) {
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
    if (!url) continue;
    child.stdout.resume(); // nobody reads the further lines
    child.stdout.unref();
    child.unref();
    return { url, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
  }
  throw new Error(`${command} did not start`);
}

process.setMaxListeners(0); // two for each server

let browser;
after(() => browser?.close());
const contexts = []; // of the present test: pages that stay open take processor time
afterEach(() => Promise.all(contexts.splice(0).map(close)));

// close closes a context, unless the test has. Requests that it intercepted may still be under way.
async function close(context) {
  const routed = [context, ...context.pages()];
  await Promise.all(routed.map((each) => each.unrouteAll({ behavior: 'ignoreErrors' }).catch(() => {})));
  await context.close();
}

// open opens a page of a server in a browser context of its own, with Playwright's options of
// contexts. The page may also call the origins in allows. The context is closed after the test. The page has more: broken lists the broken rules,
// and check fails if a rule was broken since the last check. axe fails if axe-core finds a violation
// once all transitions have ended, except for known ones: {id, within} names a rule, and the selector
// of the elements in which it is violated.
export async function open(url, { allows = [], ...options } = {}) {
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
  contexts.push(context);
  const page = await context.newPage();
  const broken = [];
  await page.exposeFunction('reportViolation', (text) => broken.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      window.reportViolation(`${event.violatedDirective}: ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`),
    );
  });
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    const isMissingPage = message.text().includes('status of 404') && message.location().url === page.url();
    if (!isMissingPage) broken.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => broken.push(`error: ${error.stack}`));
  context.on('request', (request) => {
    if (![new URL(url).origin, ...allows].includes(new URL(request.url()).origin)) broken.push(`request to ${request.url()}`);
  });

  page.on('websocket', (socket) => {
    if (![url, ...allows].some((allowed) => new URL(allowed).host === new URL(socket.url()).host)) broken.push(`socket to ${socket.url()}`);
  });

  page.broken = broken;
  page.check = () => {
    assert.deepEqual(broken.splice(0), []);
  };
  page.axe = async (known = []) => {
    await page.evaluate(() => {
      const ends = (animation) => animation.effect.getComputedTiming().endTime !== Infinity;
      return Promise.allSettled(document.getAnimations().filter(ends).map(({ finished }) => finished));
    });
    await page.evaluate(axeSource);
    const found = await page.evaluate(async (known) => {
      const isKnown = (id, { target }) => {
        const element = document.querySelector(target[0]);
        // The page can remove an element while axe looks at it, as GraphiQL's editor does with its lines.
        return !element || known.some((fault) => fault.id === id && element.closest(fault.within));
      };
      const { violations } = await window.axe.run();
      return violations.flatMap(({ id, nodes }) =>
        nodes.filter((node) => !isKnown(id, node)).map((node) => `${id}: ${node.target} ${node.any[0]?.message ?? ''}`),
      );
    }, known);
    assert.deepEqual(found, []);
  };
  const response = await page.goto(url);
  assert.equal(response.status(), 200);
  return page;
}

// withoutData makes the server's pages come without the answers to their first queries, so that the program
// sends them.
export const withoutData = (page) =>
  page.route(/\/[^.]*$/, async (route) => {
    if (route.request().resourceType() !== 'document') return route.fallback();
    const response = await route.fetch();
    const body = (await response.text()).replace(/,?"preloaded":.*(?=\}<\/script>)/, '');
    await route.fulfill({ response, body });
  });

// inView waits until an element is in the window as a whole, and nothing covers its middle. What lets
// clicks through, such as a notice, may be covered. inView looks the element up each time, because a
// page may replace it.
export async function inView(locator) {
  await locator.waitFor();
  const end = performance.now() + 30_000;
  while (!(await locator.evaluate(isSeen))) {
    if (performance.now() > end) {
      throw new Error(`not in view: ${await locator.evaluate((element) => element.outerHTML.slice(0, 200))}`);
    }
    await locator.page().evaluate(() => new Promise(requestAnimationFrame));
  }
}

function isSeen(element) {
  if (!element.checkVisibility()) return false;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return false;
  if (getComputedStyle(element).pointerEvents === 'none') return true; // a point never finds it
  const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return element.contains(seen) || seen?.contains(element);
}
