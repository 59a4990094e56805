import assert from "node:assert/strict";
import { test } from "node:test";
import { ids, isEngine, rejected, withContainer } from "./account.js";

const indexingPolicy = {
  includedPaths: [{ path: "/*" }],
  excludedPaths: [{ path: '/"_etag"/?' }],
  compositeIndexes: [[{ path: "/team", order: "ascending" }, { path: "/n", order: "descending" }]],
};

const made = withContainer({ indexingPolicy }, async (container) => {
  for (let i = 0; i < 25; i++) {
    await container.items.create({ id: `i${String(i).padStart(2, "0")}`, pk: `p${i % 2}`, n: i, team: i % 3 });
  }
});

const inPartition = (query, options = {}) => made.container.items.query(query, { partitionKey: "p0", ...options });
const all = async (query, options) => (await inPartition(query, options).fetchAll()).resources;

test("parameters", async () => {
  const query = {
    query: "SELECT c.id, c.n AS number FROM c WHERE c.n >= @low AND c.n < @high AND c.team IN (@a, @b)",
    parameters: [{ name: "@low", value: 4 }, { name: "@high", value: 12 }, { name: "@a", value: 0 }, { name: "@b", value: 1 }],
  };
  assert.deepEqual(await all(query), [{ id: "i04", number: 4 }, { id: "i06", number: 6 }, { id: "i10", number: 10 }]);
});

test("order by one and by two properties", async () => {
  assert.deepEqual(ids(await all("SELECT * FROM c ORDER BY c.n DESC")).slice(0, 3), ["i24", "i22", "i20"]);
  const two = await all("SELECT c.id, c.team FROM c ORDER BY c.team, c.n DESC");
  assert.deepEqual(ids(two).slice(0, 3), ["i24", "i18", "i12"]);
  await rejected(all("SELECT * FROM c ORDER BY c.n, c.id"), 400); // no composite index
});

test("aggregates, distinct, top, offset", async () => {
  assert.deepEqual(await all("SELECT VALUE COUNT(1) FROM c"), [13]);
  assert.deepEqual(await all("SELECT VALUE SUM(c.n) FROM c"), [156]);
  assert.deepEqual(await all("SELECT COUNT(1) AS c, MIN(c.n) AS a, MAX(c.n) AS z, AVG(c.n) AS m FROM c"), [{ c: 13, a: 0, z: 24, m: 12 }]);
  assert.deepEqual((await all("SELECT DISTINCT VALUE c.team FROM c")).sort(), [0, 1, 2]);
  assert.deepEqual(ids(await all("SELECT TOP 2 c.id FROM c ORDER BY c.n")), ["i00", "i02"]);
  assert.deepEqual(ids(await all("SELECT c.id FROM c ORDER BY c.n OFFSET 3 LIMIT 2")), ["i06", "i08"]);
});

test("pages and continuations", async () => {
  for (const text of ["SELECT * FROM c", "SELECT * FROM c ORDER BY c.n"]) {
    const seen = [];
    let continuationToken;
    do {
      // A new iterator for each page, as in a server that passes the token to its client.
      const iterator = inPartition(text, { maxItemCount: 5, continuationToken });
      const page = await iterator.fetchNext();
      assert.ok((page.resources ?? []).length <= 5);
      seen.push(...ids(page.resources ?? []));
      continuationToken = page.continuationToken;
    } while (continuationToken);
    assert.equal(new Set(seen).size, 13, text);
    assert.equal(seen.length, 13, text);
  }
});

test("the continuation of another query is 400", async () => {
  const { continuationToken } = await inPartition("SELECT * FROM c", { maxItemCount: 5 }).fetchNext();
  await rejected(inPartition("SELECT c.id FROM c", { continuationToken }).fetchNext(), 400);
});

test("an iterator returns all pages", async () => {
  const seen = [];
  for await (const page of inPartition("SELECT * FROM c", { maxItemCount: 4 }).getAsyncIterator()) {
    seen.push(...ids(page.resources));
  }
  assert.equal(seen.length, 13);
});

test("query metrics", async () => {
  const page = await inPartition("SELECT * FROM c WHERE c.n < 6", { populateQueryMetrics: true }).fetchNext();
  const [metrics] = Object.values(page.queryMetrics);
  assert.equal(metrics.outputDocumentCount, 3);
});

test("filters across partitions", async () => {
  const { container } = made;
  const { resources } = await container.items.query("SELECT c.id FROM c WHERE c.n < 6").fetchAll();
  assert.deepEqual(ids(resources).sort(), ["i00", "i01", "i02", "i03", "i04", "i05"]);
  const pages = container.items.query("SELECT * FROM c", { maxItemCount: 10 });
  const seen = [];
  while (pages.hasMoreResults()) {
    seen.push(...ids((await pages.fetchNext()).resources ?? []));
  }
  assert.equal(seen.length, 25);
  const pinned = await container.items.query("SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'p1'").fetchAll();
  assert.deepEqual(pinned.resources, [12]);
});

test("filters across partitions with a query plan, as in other SDKs", async () => {
  const query = { query: "SELECT VALUE c.id FROM c WHERE c.n < @n", parameters: [{ name: "@n", value: 6 }] };
  const { resources } = await made.container.items.query(query, { forceQueryPlan: true, maxItemCount: 2 }).fetchAll();
  assert.deepEqual(resources.sort(), ["i00", "i01", "i02", "i03", "i04", "i05"]);
});

test("readAll", async () => {
  const { resources } = await made.container.items.readAll().fetchAll();
  assert.equal(resources.length, 25);
});

test("syntax errors are 400", async () => {
  const failure = await rejected(all("SELEC * FROM c"), 400);
  assert.match(failure.message, /Syntax error/);
});

test("queries that need a query plan are 400", { skip: !isEngine && "an account supports them" }, async () => {
  await rejected(made.container.items.query("SELECT * FROM c ORDER BY c.n").fetchAll(), 400);
  await rejected(made.container.items.query("SELECT VALUE COUNT(1) FROM c").fetchAll(), 400);
});
