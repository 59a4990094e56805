import assert from "node:assert/strict";
import { test } from "node:test";
import { BulkOperationType, ChangeFeedStartFrom } from "@azure/cosmos";
import { isEngine, partitionKey, withContainer } from "./account.js";

const made = withContainer();

test("a container of several physical ranges", { skip: !isEngine && "25,000 RU/s cost money" }, async (t) => {
  const { container } = await made.database.containers.create({ id: "wide", partitionKey, throughput: 25000 });
  const count = 40;

  await t.test("bulk", async () => {
    const created = await container.items.executeBulkOperations(
      Array.from({ length: count }, (_, i) => ({
        operationType: BulkOperationType.Create,
        partitionKey: `p${i}`,
        resourceBody: { id: "x", pk: `p${i}`, n: i },
      })),
    );
    assert.deepEqual(new Set(created.map((one) => one.response?.statusCode)), new Set([201]));
  });

  for (const forceQueryPlan of [false, true]) {
    await t.test(`filters across partitions${forceQueryPlan ? ", with a query plan" : ""}`, async () => {
      const iterator = container.items.query("SELECT VALUE c.n FROM c WHERE c.n >= 10", { maxItemCount: 7, forceQueryPlan });
      const seen = [];
      while (iterator.hasMoreResults()) {
        seen.push(...((await iterator.fetchNext()).resources ?? []));
      }
      assert.deepEqual(seen.sort((a, b) => a - b), Array.from({ length: count - 10 }, (_, i) => i + 10));
    });
  }

  await t.test("change feed", async () => {
    assert.equal((await container.getFeedRanges()).length, 3);
    const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 5 });
    const seen = [];
    for (;;) {
      const page = await iterator.readNext();
      if (page.statusCode === 304) break;
      seen.push(...page.result.map((item) => item.n));
    }
    assert.deepEqual(seen.sort((a, b) => a - b), Array.from({ length: count }, (_, i) => i));
  });
});
