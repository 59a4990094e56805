// What the SDK does by itself when an account refuses requests, splits and merges ranges, or time
// passes. It needs an account that can be told to.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BulkOperationType, ChangeFeedStartFrom, CosmosClient, PatchOperationType } from "@azure/cosmos";
import { controlled, ids, order, partitionKey, rejected } from "./account.js";

const options = { skip: !controlled && "the account cannot be controlled" };
let client, database, container;

before(async () => {
  if (!controlled) return;
  client = new CosmosClient({ ...controlled, connectionPolicy: { retryOptions: { maxRetryAttemptCount: 3, maxWaitTimeInSeconds: 5 } } });
  database = (await client.databases.create({ id: "controlled" })).database;
  container = (await database.containers.create({ id: "items", partitionKey, defaultTtl: -1 })).container;
});
after(() => client?.dispose());

const throttled = { status: 429, headers: ["x-ms-retry-after-ms: 1", "x-ms-substatus: 3200"] };

test("429 is repeated after the time that the answer names", options, async () => {
  await order({ refuse: { ...throttled, times: 2 } });
  const created = await container.items.create({ id: "t", pk: "p" });
  assert.equal(created.statusCode, 201);
  assert.equal(created.headers["x-ms-throttle-retry-count"], 2);
  assert.equal(await order(), 3);
  await order({ refuse: { ...throttled, times: 1 } });
  assert.equal((await container.items.query("SELECT * FROM c", { partitionKey: "p" }).fetchAll()).resources.length, 1);
  await order({ refuse: { ...throttled, times: 100 } });
  await rejected(container.item("t", "p").read(), 429);
  assert.ok((await order()) >= 4, "the first request and three repetitions");
});

test("429 within a bulk", options, async () => {
  await order({ refuse: { ...throttled, times: 1 } });
  const operations = Array.from({ length: 10 }, (_, i) => ({ operationType: BulkOperationType.Create, partitionKey: "bulk", resourceBody: { id: `b${i}`, pk: "bulk" } }));
  const results = await container.items.executeBulkOperations(operations);
  assert.deepEqual(new Set(results.map((one) => one.response?.statusCode)), new Set([201]));
  await order();
});

test("404/1002 is read again, and then without the token", options, async () => {
  await order({ refuse: { status: 404, times: 1, headers: ["x-ms-substatus: 1002"] } });
  const read = await container.item("t", "p").read();
  assert.equal(read.statusCode, 200);
  assert.ok((await order()) >= 2);
});

async function filled(id, count) {
  const made = (await database.containers.create({ id, partitionKey })).container;
  for (let i = 0; i < count; i++) {
    await made.items.create({ id: `i${String(i).padStart(2, "0")}`, pk: `p${i}`, n: i });
  }
  return made;
}

const range = (id, name) => ({ database: "controlled", container: id, range: name });
const all = (count) => Array.from({ length: count }, (_, i) => i);
const sorted = (numbers) => numbers.sort((a, b) => a - b);

// A query with a query plan that is under way when its range is split never ends: version 4.10.1
// keeps the 410 as a result, and asks the old range again and again (documentProducer.js).
test("queries after a split and a merge: by the gateway, and with a query plan of a new client", options, async () => {
  const wide = await filled("split-query", 20);
  const text = "SELECT VALUE c.n FROM c WHERE c.n >= 0";
  assert.deepEqual(sorted((await wide.items.query(text, { forceQueryPlan: true }).fetchAll()).resources), all(20));
  await order({ split: range("split-query", "0") });
  const { resources: ranges } = await wide.readPartitionKeyRanges().fetchAll();
  assert.deepEqual(ranges.map((one) => one.parents), [["0"], ["0"]]);
  const check = async () => {
    assert.deepEqual(sorted((await wide.items.query(text).fetchAll()).resources), all(20));
    const another = new CosmosClient(controlled);
    const seen = await another.database("controlled").container("split-query").items.query(text, { maxItemCount: 3, forceQueryPlan: true }).fetchAll();
    assert.deepEqual(sorted(seen.resources), all(20));
    another.dispose();
  };
  await check();
  await order({ merge: range("split-query", ranges[0].id) });
  assert.equal((await wide.readPartitionKeyRanges().fetchAll()).resources.length, 1);
  await check();
});

test("a change feed goes on while its range is split: of the container, of a feed range, of a key", options, async () => {
  const wide = await filled("split-feed", 20);
  const [whole] = await wide.getFeedRanges();
  const begun = [];
  for (const from of [ChangeFeedStartFrom.Beginning(), ChangeFeedStartFrom.Beginning(whole), ChangeFeedStartFrom.Beginning("p7")]) {
    const iterator = wide.items.getChangeFeedIterator({ changeFeedStartFrom: from, maxItemCount: 3 });
    const page = await iterator.readNext();
    begun.push({ iterator, seen: page.result.map((item) => item.n), token: page.continuationToken, first: page.result.length });
  }
  await order({ split: range("split-feed", "0") });
  await wide.item("i07", "p7").replace({ id: "i07", pk: "p7", n: 7, again: true });
  const drain = async (iterator) => {
    const seen = [];
    for (let idle = 0; idle < 3; ) {
      const page = await iterator.readNext();
      idle = page.statusCode === 304 ? idle + 1 : 0;
      seen.push(...(page.result ?? []).map((item) => item.n));
    }
    return seen;
  };
  for (const [i, { iterator, seen, token }] of begun.entries()) {
    const want = i === 2 ? [7] : all(20);
    assert.deepEqual(sorted([...new Set([...seen, ...(await drain(iterator))])]), want, `feed ${i}`);
    const resumed = wide.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Continuation(token), maxItemCount: 3 });
    const rest = await drain(resumed);
    assert.deepEqual(sorted([...new Set([...seen, ...rest])]), want, `feed ${i}, resumed`);
    assert.ok(rest.includes(7), `feed ${i}, resumed, has the change after the split`);
  }
});

test("bulk, batch, patch and reads after a split", options, async () => {
  const wide = await filled("split-bulk", 4);
  await order({ split: range("split-bulk", "0") });
  const operations = all(20).map((i) => ({ operationType: BulkOperationType.Upsert, partitionKey: `p${i}`, resourceBody: { id: "u", pk: `p${i}` } }));
  const results = await wide.items.executeBulkOperations(operations);
  assert.deepEqual(new Set(results.map((one) => one.response?.statusCode)), new Set([201]));
  const batch = await wide.items.batch([{ operationType: "Create", resourceBody: { id: "v", pk: "p1" } }, { operationType: "Read", id: "u" }], "p1");
  assert.equal(batch.code, 200);
  const patched = await wide.item("u", "p1").patch([{ op: PatchOperationType.incr, path: "/n", value: 2 }]);
  assert.equal(patched.resource.n, 2);
  assert.equal((await wide.item("u", "p2").read()).statusCode, 200);
});

test("items expire", options, async () => {
  await container.items.create({ id: "short", pk: "ttl", ttl: 10 });
  await container.items.create({ id: "long", pk: "ttl" });
  const left = async () => ids((await container.items.query("SELECT * FROM c", { partitionKey: "ttl" }).fetchAll()).resources);
  assert.deepEqual(await left(), ["long", "short"]);
  await order({ advance: 11 });
  assert.deepEqual(await left(), ["long"]);
  assert.equal((await container.item("short", "ttl").read()).statusCode, 404);
  assert.equal((await container.items.create({ id: "short", pk: "ttl" })).statusCode, 201);
});
