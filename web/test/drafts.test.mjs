// Drafts in a browser's storage. The storage is one of the test, which can be blocked or full.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

const texts = new Map();
let isBlocked, isFull;
const area = {
  getItem: (key) => texts.get(key) ?? null,
  setItem(key, text) {
    if (isFull) throw new DOMException('full', 'QuotaExceededError');
    texts.set(key, text);
  },
  removeItem: (key) => texts.delete(key),
};
Object.defineProperty(globalThis, 'localStorage', {
  get() {
    if (isBlocked) throw new DOMException('blocked', 'SecurityError');
    return area;
  },
});
const page = new EventTarget();
globalThis.addEventListener = page.addEventListener.bind(page);
const { openDraft } = await import('../app/src/api/drafts');

// writeElsewhere sets a text as another tab does.
function writeElsewhere(key, text) {
  if (text === null) texts.delete(key);
  else texts.set(key, text);
  page.dispatchEvent(Object.assign(new Event('storage'), { key, storageArea: area }));
}

beforeEach(() => {
  isBlocked = isFull = false;
  texts.clear();
  page.dispatchEvent(Object.assign(new Event('storage'), { key: null, storageArea: area }));
});

const initial = { title: '', content: 'Of the program.' };
const open = (account = 'anna', form = 'post') => openDraft(account, form).of(initial);

test('a draft is kept until it is discarded', () => {
  const draft = open();
  assert.deepEqual(draft.values, initial);
  draft.change({ title: 'Begun' });
  draft.change({ content: 'Written.' });
  assert.deepEqual(open().values, { title: 'Begun', content: 'Written.' });
  draft.discard();
  assert.deepEqual(open().values, initial);
  assert.equal(texts.size, 0);
});

test('a form that is only opened keeps nothing', () => {
  open().latest();
  assert.equal(texts.size, 0);
  open().keep();
  assert.equal(texts.size, 1);
});

test('a draft belongs to its account and its form', () => {
  open('anna').change({ title: 'Of Anna' });
  assert.deepEqual(open('ben').values, initial);
  assert.deepEqual(openDraft(undefined, 'post').of(initial).values, initial);
  assert.deepEqual(open('anna', 'edit.p_1').values, initial);
  open('ben').discard();
  assert.equal(open('anna').values.title, 'Of Anna');
});

test('the key stays the same until the draft is discarded', () => {
  const draft = open();
  const { key } = draft.latest();
  draft.change({ title: 'Begun' });
  draft.change({ title: 'Changed' });
  assert.equal(draft.keep().key, key);
  assert.equal(open().latest().key, key); // after a reload
  draft.discard();
  assert.notEqual(draft.latest().key, key);
});

test('the key of a draft that was sent without a change is not used again', () => {
  const draft = open();
  const { key } = draft.latest();
  draft.discard();
  assert.notEqual(draft.latest().key, key);
});

test('a key that belongs to an earlier text is renewed, and the text stays', () => {
  const draft = open();
  draft.change({ title: 'Changed' });
  const { key } = draft.latest();
  draft.renewKey();
  assert.equal(draft.latest().values.title, 'Changed');
  assert.notEqual(draft.latest().key, key);
  assert.equal(open().latest().key, draft.latest().key);
});

test('a form shows what another tab changes, and does not use its key again', () => {
  const { of, follow } = openDraft('anna', 'post');
  const seen = [];
  const end = follow(() => seen.push(of(initial).values.title));
  of(initial).change({ title: 'Here' });
  const [[storageKey, text]] = texts;
  const { key } = of(initial).latest();
  open('ben').change({ title: 'Of another form' });
  writeElsewhere(storageKey, text.replace('Here', 'There'));
  writeElsewhere(storageKey, null); // the other tab has published it
  assert.deepEqual(seen, ['Here', 'There', '']);
  assert.notEqual(of(initial).latest().key, key);
  end();
  of(initial).change({ title: 'Again' });
  assert.equal(seen.length, 3);
});

test('a change starts from what was typed meanwhile', () => {
  const before = open();
  open().change({ title: 'Typed' });
  before.change({ content: 'Written.' });
  assert.deepEqual(open().values, { title: 'Typed', content: 'Written.' });
});

test('a draft is old if it was there before the form was opened', () => {
  const first = openDraft('anna', 'post');
  first.of(initial).change({ title: 'Begun' });
  assert.equal(first.of(initial).isOld, false);
  const second = openDraft('anna', 'post');
  assert.equal(second.of(initial).isOld, true);
  second.of(initial).discard();
  assert.equal(second.of(initial).isOld, false);
});

test('a draft of an older program gets the values that it lacks', () => {
  open().change({ title: 'Begun' });
  const [[storageKey]] = texts;
  writeElsewhere(storageKey, JSON.stringify({ values: { title: 'Old' } }));
  assert.deepEqual(open().values, { title: 'Old', content: 'Of the program.' });
  assert.equal(typeof open().latest().key, 'string');
  writeElsewhere(storageKey, 'not JSON');
  assert.deepEqual(open().values, initial);
});

test('if the browser blocks its storage, a draft lasts as long as the page', () => {
  isBlocked = true;
  open().change({ title: 'Begun' });
  assert.equal(open().values.title, 'Begun');
  assert.equal(open().latest().key, open().latest().key);
  assert.deepEqual(open('ben').values, initial);
  open().discard();
  assert.deepEqual(open().values, initial);
});

test('if the storage is full, the form has the newest text', () => {
  open().change({ title: 'Short' });
  isFull = true;
  open().change({ title: 'Too long' });
  assert.equal(open().values.title, 'Too long');
  isFull = false;
  open().change({ content: 'Shorter.' });
  const [[storageKey, text]] = texts;
  assert.match(text, /Too long.*Shorter/);
  isFull = true;
  open().change({ title: 'Too long again' });
  writeElsewhere(storageKey, text);
  assert.equal(open().values.title, 'Too long');
});
