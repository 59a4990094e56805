import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeFeedStartFrom } from "@azure/cosmos";
import { ids, withContainer } from "./account.js";

const made = withContainer({}, async (container) => {
  for (let i = 0; i < 12; i++) {
    await container.items.create({ id: `c${i}`, pk: `p${i % 3}`, n: i });
  }
});

// drain reads all changes and returns the ids and the continuation token.
async function drain(iterator) {
  const seen = [];
  for (;;) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) {
      return { seen, token: page.continuationToken };
    }
    assert.equal(page.statusCode, 200);
    seen.push(...ids(page.result));
  }
}

const feed = (from, options = {}) => made.container.items.getChangeFeedIterator({ changeFeedStartFrom: from, ...options });

test("of the whole container", async () => {
  const { seen, token } = await drain(feed(ChangeFeedStartFrom.Beginning(), { maxItemCount: 5 }));
  assert.equal(seen.length, 12);
  await made.container.item("c3", "p0").replace({ id: "c3", pk: "p0", n: 33 });
  const next = await drain(feed(ChangeFeedStartFrom.Continuation(token)));
  assert.deepEqual(next.seen, ["c3"]);
});

test("of a partition key", async () => {
  const { seen, token } = await drain(feed(ChangeFeedStartFrom.Beginning("p1"), { maxItemCount: 2 }));
  assert.deepEqual(seen, ["c1", "c4", "c7", "c10"]);
  await made.container.item("c2", "p2").replace({ id: "c2", pk: "p2", n: 22 });
  await made.container.item("c4", "p1").replace({ id: "c4", pk: "p1", n: 44 });
  const next = await drain(feed(ChangeFeedStartFrom.Continuation(token)));
  assert.deepEqual(next.seen, ["c4"]);
});

test("of feed ranges, and of parts of one", async () => {
  const [range] = await made.container.getFeedRanges();
  assert.equal((await drain(feed(ChangeFeedStartFrom.Beginning(range)))).seen.length, 12);
  const halves = [
    { minInclusive: "", maxExclusive: "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF" },
    { minInclusive: "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", maxExclusive: "FF" },
  ];
  const seen = [];
  for (const half of halves) {
    const part = Object.assign(Object.create(Object.getPrototypeOf(range)), half);
    const got = await drain(feed(ChangeFeedStartFrom.Beginning(part)));
    assert.ok(got.seen.length < 12, "half of the keys returned all items");
    seen.push(...got.seen);
  }
  assert.equal(new Set(seen).size, 12);
  assert.equal(seen.length, 12);
});

test("from now, and from a date", async () => {
  const now = feed(ChangeFeedStartFrom.Now());
  const first = await now.readNext();
  assert.equal(first.statusCode, 304);
  await made.container.items.create({ id: "late", pk: "p0" });
  assert.deepEqual((await drain(now)).seen, ["late"]);
  const since = await drain(feed(ChangeFeedStartFrom.Time(new Date(Date.now() - 3600_000))));
  assert.equal(since.seen.length, 13);
  const later = await drain(feed(ChangeFeedStartFrom.Time(new Date(Date.now() + 3600_000))));
  assert.deepEqual(later.seen, []);
});

test("the older iterator", async () => {
  const iterator = made.container.items.changeFeed("p1", { startFromBeginning: true });
  const { result } = await iterator.fetchNext();
  assert.equal(result.length, 4);
});

test("resumed: of a feed range", async () => {
  const [range] = await made.container.getFeedRanges();
  const { token } = await drain(feed(ChangeFeedStartFrom.Beginning(range)));
  await made.container.items.create({ id: "resumed", pk: "p2" });
  assert.deepEqual((await drain(feed(ChangeFeedStartFrom.Continuation(token)))).seen, ["resumed"]);
});
