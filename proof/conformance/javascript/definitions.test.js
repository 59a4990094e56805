import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { CosmosClient } from "@azure/cosmos";
import { client, endpoint, partitionKey, rejected, withContainer } from "./account.js";

const made = withContainer();

test("account", async () => {
  const { resource } = await client.getDatabaseAccount();
  assert.equal(typeof resource.consistencyPolicy, "string");
  assert.equal(resource.enableMultipleWritableLocations, false);
});

test("a wrong key is 401", async () => {
  const unauthorized = new CosmosClient({ endpoint, key: Buffer.from("the key of another account").toString("base64") });
  await rejected(unauthorized.databases.readAll().fetchAll(), 401);
  unauthorized.dispose();
});

test("databases", async () => {
  const id = `conformance-${randomUUID()}`;
  const created = await client.databases.create({ id });
  assert.equal(created.statusCode, 201);
  try {
    await rejected(client.databases.create({ id }), 409);
    const again = await client.databases.createIfNotExists({ id });
    assert.equal(again.statusCode, 200);
    assert.equal((await client.database(id).read()).resource.id, id);
    const { resources } = await client.databases.readAll().fetchAll();
    assert.ok(resources.some((database) => database.id === id));
    const query = { query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: id }] };
    assert.equal((await client.databases.query(query).fetchAll()).resources.length, 1);
  } finally {
    assert.equal((await client.database(id).delete()).statusCode, 204);
  }
  await rejected(client.database(id).read(), 404);
});

test("containers: a policy that omits its paths gets the service's defaults", async () => {
  const { container, resource } = await made.database.containers.create({
    id: "defaults",
    partitionKey,
    indexingPolicy: { indexingMode: "consistent", automatic: true },
  });
  assert.deepEqual(resource.indexingPolicy.includedPaths, [{ path: "/*" }]);
  assert.ok(resource.indexingPolicy.excludedPaths.some((excluded) => excluded.path.includes("_etag")));
  await container.items.create({ id: "a", pk: "p", n: 1 });
  const { resources } = await container.items.query("SELECT * FROM c WHERE c.n = 1").fetchAll();
  assert.equal(resources.length, 1);
  await container.delete();
});

test("containers: read, list, query, replace, delete", async () => {
  const { database } = made;
  const before = (await database.containers.readAll().fetchAll()).resources.length;
  const { container } = await database.containers.create({ id: "more", partitionKey });
  await rejected(database.containers.create({ id: "more", partitionKey }), 409);
  const { resource } = await container.read();
  assert.deepEqual(resource.partitionKey.paths, ["/pk"]);
  assert.equal((await database.containers.readAll().fetchAll()).resources.length, before + 1);
  const query = { query: "SELECT * FROM c WHERE c.id = @id", parameters: [{ name: "@id", value: "more" }] };
  assert.equal((await database.containers.query(query).fetchAll()).resources.length, 1);
  resource.indexingPolicy = { ...resource.indexingPolicy, excludedPaths: [{ path: "/body/*" }] };
  const replaced = await container.replace(resource);
  assert.equal(replaced.statusCode, 200);
  assert.equal((await container.delete()).statusCode, 204);
  await rejected(container.read(), 404);
});

test("a container in a missing database is 404", async () => {
  await rejected(client.database(`none-${randomUUID()}`).containers.create({ id: "x", partitionKey }), 404);
});

test("offers are stored and returned", async () => {
  const { container } = await made.database.containers.create({ id: "offered", partitionKey, throughput: 500 });
  const { resource: definition } = await container.read();
  const { resource, offer } = await container.readOffer();
  assert.equal(resource.content.offerThroughput, 500);
  assert.equal(resource.offerResourceId, definition._rid);
  resource.content.offerThroughput = 600;
  assert.equal((await offer.replace(resource)).resource.content.offerThroughput, 600);
  assert.equal((await client.offer(resource.id).read()).resource.content.offerThroughput, 600);
  const { resources } = await client.offers.readAll().fetchAll();
  assert.ok(resources.some((one) => one.offerResourceId === definition._rid));
  await container.delete();
});

test("physical ranges", async () => {
  const { resources } = await made.container.readPartitionKeyRanges().fetchAll();
  assert.equal(resources.length, 1);
  assert.equal(typeof resources[0].id, "string");
  assert.equal(resources[0].minInclusive, "");
  assert.equal(resources[0].maxExclusive, "FF");
});

test("containers that are refused", async () => {
  const refused = [
    { indexingPolicy: { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/a" }] } },
    { indexingPolicy: { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/a/*/b/?" }] } },
    { indexingPolicy: { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/path-abc/?" }] } },
    { indexingPolicy: { includedPaths: [{ path: "/a/?" }] } },
    { indexingPolicy: { spatialIndexes: [{ path: "/l/*", types: ["Point"] }] }, geospatialConfig: { type: "Geometry" } },
    { partitionKey: { paths: ["/first-name"], version: 2 } },
  ];
  for (const definition of refused) {
    await rejected(made.database.containers.create({ id: "refused", partitionKey, ...definition }), 400);
  }
});

test("an autoscaled container provisions a tenth of its maximum", async () => {
  const { container } = await made.database.containers.create({ id: "scaled", partitionKey, maxThroughput: 2000 });
  const { resource } = await container.readOffer();
  assert.equal(resource.content.offerAutopilotSettings.maxThroughput, 2000);
  assert.equal(resource.content.offerThroughput, 200);
  await container.delete();
});

test("how much a container holds", async () => {
  await made.container.items.create({ id: "held", pk: "p" });
  const { headers } = await made.container.read({ populateQuotaInfo: true });
  assert.match(headers["x-ms-resource-usage"], /documentsCount=\d+;/);
  assert.match(headers["x-ms-resource-quota"], /documentsCount=-1;/);
});
