import assert from "node:assert/strict";
import { test } from "node:test";
import { BulkOperationType, PatchOperationType } from "@azure/cosmos";
import { rejected, withContainer } from "./account.js";

const made = withContainer();

test("create, read, replace, upsert, delete", async () => {
  const { container } = made;
  const created = await container.items.create({ id: "one", pk: "p", n: 1, text: "Ärger\u2028😀" });
  assert.equal(created.statusCode, 201);
  assert.ok(created.requestCharge > 0);
  assert.equal(created.etag, created.resource._etag);
  assert.ok(created.activityId);
  const item = container.item("one", "p");
  const read = await item.read();
  assert.deepEqual(read.resource, created.resource);
  const replaced = await item.replace({ id: "one", pk: "p", n: 2 });
  assert.equal(replaced.statusCode, 200);
  assert.notEqual(replaced.etag, created.etag);
  const upserted = await container.items.upsert({ id: "one", pk: "p", n: 3 });
  assert.equal(upserted.statusCode, 200);
  assert.equal((await container.items.upsert({ id: "two", pk: "p" })).statusCode, 201);
  assert.equal((await item.read()).resource.n, 3);
  assert.equal((await item.delete()).statusCode, 204);
  await container.item("two", "p").delete();
});

test("a missing id is generated", async () => {
  const { resource } = await made.container.items.create({ pk: "made" });
  assert.ok(resource.id.length > 10);
});

test("a duplicate id is 409, but only within a partition", async () => {
  const { container } = made;
  await container.items.create({ id: "same", pk: "a" });
  const conflict = await rejected(container.items.create({ id: "same", pk: "a" }), 409);
  assert.equal(conflict.body.code, "Conflict");
  await container.items.create({ id: "same", pk: "b" });
});

test("a missing item is 404", async () => {
  const { container } = made;
  const read = await container.item("none", "p").read();
  assert.equal(read.statusCode, 404); // the SDK returns a response without a resource
  assert.equal(read.resource, undefined);
  await rejected(container.item("none", "p").replace({ id: "none", pk: "p" }), 404);
  await rejected(container.item("none", "p").delete(), 404);
  await rejected(container.item("none", "p").patch([{ op: "set", path: "/a", value: 1 }]), 404);
  const elsewhere = await made.database.container("none").item("x", "p").read();
  assert.equal(elsewhere.statusCode, 404);
});

test("partition keys: null, a number, a boolean, none, and one that does not match", async () => {
  const { container } = made;
  for (const pk of [null, 7.5, true, "ü \"quoted\" \\"]) {
    await container.items.create({ id: "typed", pk });
    assert.deepEqual((await container.item("typed", pk).read()).resource.pk, pk);
  }
  await container.items.create({ id: "keyless" });
  const keyless = await container.item("keyless", undefined).read();
  assert.equal(keyless.resource.id, "keyless");
  const mismatch = await rejected(container.item("typed", true).replace({ id: "typed", pk: "other" }), 400);
  assert.equal(mismatch.substatus, 1001);
});

test("conditions", async () => {
  const { container } = made;
  const { etag } = await container.items.create({ id: "guarded", pk: "p", n: 1 });
  const item = container.item("guarded", "p");
  const matching = (condition) => ({ accessCondition: { type: "IfMatch", condition } });
  const changed = await item.replace({ id: "guarded", pk: "p", n: 2 }, matching(etag));
  await rejected(item.replace({ id: "guarded", pk: "p", n: 3 }, matching(etag)), 412);
  await rejected(container.items.upsert({ id: "guarded", pk: "p", n: 3 }, matching(etag)), 412);
  await rejected(item.delete(matching(etag)), 412);
  const unchanged = await item.read({ accessCondition: { type: "IfNoneMatch", condition: changed.etag } });
  assert.equal(unchanged.statusCode, 304);
  const read = await item.read({ accessCondition: { type: "IfNoneMatch", condition: etag } });
  assert.equal(read.resource.n, 2);
  await item.delete(matching(changed.etag));
});

test("patch", async () => {
  const { container } = made;
  await container.items.create({ id: "patched", pk: "p", n: 1, list: [1, 3], old: "x", moved: 5 });
  const item = container.item("patched", "p");
  const { resource } = await item.patch([
    { op: PatchOperationType.add, path: "/list/1", value: 2 },
    { op: PatchOperationType.set, path: "/set", value: { a: null } },
    { op: PatchOperationType.replace, path: "/old", value: "new" },
    { op: PatchOperationType.incr, path: "/n", value: 2.5 },
    { op: "move", from: "/moved", path: "/there" },
    { op: PatchOperationType.remove, path: "/set/a" },
  ]);
  assert.deepEqual(
    { list: resource.list, set: resource.set, old: resource.old, n: resource.n, moved: resource.moved, there: resource.there },
    { list: [1, 2, 3], set: {}, old: "new", n: 3.5, moved: undefined, there: 5 },
  );
  const operations = [{ op: "incr", path: "/n", value: 1 }];
  const met = await item.patch({ condition: "FROM c WHERE c.old = 'new'", operations });
  assert.equal(met.resource.n, 4.5);
  await rejected(item.patch({ condition: "FROM c WHERE c.old = 'other'", operations }), 412);
  await rejected(item.patch([{ op: "replace", path: "/none", value: 1 }]), 400);
});

test("batch: all or nothing", async () => {
  const { container } = made;
  await container.items.create({ id: "counted", pk: "batch", n: 1 });
  const whole = await container.items.batch(
    [
      { operationType: BulkOperationType.Create, resourceBody: { id: "b1", pk: "batch" } },
      { operationType: BulkOperationType.Upsert, resourceBody: { id: "b2", pk: "batch" } },
      { operationType: BulkOperationType.Patch, id: "counted", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
      { operationType: BulkOperationType.Read, id: "counted" },
      { operationType: BulkOperationType.Replace, id: "b1", resourceBody: { id: "b1", pk: "batch", n: 5 } },
      { operationType: BulkOperationType.Delete, id: "b2" },
    ],
    "batch",
  );
  assert.deepEqual(whole.result.map((one) => one.statusCode), [201, 201, 200, 200, 200, 204]);
  assert.equal(whole.result[3].resourceBody.n, 2);
  assert.ok(whole.result[0].eTag && whole.result[0].requestCharge > 0);
  const failed = await container.items.batch(
    [
      { operationType: BulkOperationType.Create, resourceBody: { id: "b3", pk: "batch" } },
      { operationType: BulkOperationType.Create, resourceBody: { id: "b1", pk: "batch" } },
    ],
    "batch",
  );
  assert.equal(failed.code, 207);
  assert.deepEqual(failed.result.map((one) => one.statusCode), [424, 409]);
  assert.equal((await container.item("b3", "batch").read()).statusCode, 404);
});

test("bulk: operations are independent", async () => {
  const { container } = made;
  const created = await container.items.executeBulkOperations(
    Array.from({ length: 30 }, (_, i) => ({
      operationType: BulkOperationType.Create,
      partitionKey: `bulk${i % 7}`,
      resourceBody: { id: `n${i}`, pk: `bulk${i % 7}`, n: i },
    })),
  );
  assert.deepEqual(new Set(created.map((one) => one.response?.statusCode)), new Set([201]));
  const mixed = await container.items.executeBulkOperations([
    { operationType: BulkOperationType.Create, partitionKey: "bulk0", resourceBody: { id: "n0", pk: "bulk0" } },
    { operationType: BulkOperationType.Read, partitionKey: "bulk1", id: "n1" },
    { operationType: BulkOperationType.Upsert, partitionKey: "bulk2", resourceBody: { id: "n2", pk: "bulk2", n: 0 } },
    { operationType: BulkOperationType.Replace, partitionKey: "bulk3", id: "n3", resourceBody: { id: "n3", pk: "bulk3" } },
    { operationType: BulkOperationType.Patch, partitionKey: "bulk4", id: "n4", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
    { operationType: BulkOperationType.Delete, partitionKey: "bulk5", id: "n5" },
    { operationType: BulkOperationType.Delete, partitionKey: "bulk5", id: "none" },
  ]);
  assert.deepEqual(mixed.map((one) => one.response?.statusCode ?? one.error?.code), [409, 200, 200, 200, 200, 204, 404]);
  assert.equal(mixed[1].response.resourceBody.n, 1);
});

test("session tokens are returned and accepted", async () => {
  const { container } = made;
  const created = await container.items.create({ id: "session", pk: "p" });
  const sessionToken = created.headers["x-ms-session-token"];
  assert.ok(sessionToken);
  assert.equal((await container.item("session", "p").read({ sessionToken })).statusCode, 200);
  assert.equal(created.headers["x-ms-alt-content-path"], `dbs/${made.database.id}/colls/items`); // the SDK stores the token by this header
});

test("ids: what needs an escape in a path, and what looks like one", async () => {
  for (const id of ["a b", "é日😀", "50%", "a+b=c,d:e@f", "(x)[y]{z}^!_~$"]) {
    await made.container.items.create({ id, pk: "ids" });
    const item = made.container.item(id, "ids");
    assert.equal((await item.read()).resource.id, id);
    assert.equal((await item.delete()).statusCode, 204);
  }
  await made.container.items.create({ id: "a%20b", pk: "ids" }); // the gateway decodes twice
  const item = made.container.item("a%20b", "ids");
  await rejected(item.read(), 401);
  await rejected(item.replace({ id: "a%20b", pk: "ids" }), 401);
  await rejected(item.delete(), 401);
  const found = await made.container.items.query("SELECT * FROM c", { partitionKey: "ids" }).fetchAll();
  assert.equal(found.resources.length, 1);
});

test("patches that are refused, and a move", async () => {
  await made.container.items.create({ id: "moved", pk: "patches", list: ["all", "grass", "cows", "eat"] });
  const item = made.container.item("moved", "patches");
  for (const path of ["/list~", "/12345678901234567890", "/none/a"]) {
    await rejected(item.patch([{ op: PatchOperationType.add, path, value: 1 }]), 400);
  }
  const { resource } = await item.patch([{ op: "move", from: "/list/3", path: "/last" }]);
  assert.deepEqual([resource.list, resource.last], [["all", "grass", "cows"], "eat"]);
});

test("a malformed session token is 400", async () => {
  for (const sessionToken of ["FOOBAR", "1:rser"]) {
    await rejected(made.container.items.query("SELECT * FROM c", { partitionKey: "p", sessionToken }).fetchAll(), 400);
  }
});

test("bulk: all kinds of operations, and one that fails", async () => {
  await made.container.items.create({ id: "old", pk: "kinds", n: 1 });
  const results = await made.container.items.executeBulkOperations([
    { operationType: BulkOperationType.Create, partitionKey: "kinds", resourceBody: { id: "new", pk: "kinds" } },
    { operationType: BulkOperationType.Create, partitionKey: "kinds", resourceBody: { id: "old", pk: "kinds" } },
    { operationType: BulkOperationType.Upsert, partitionKey: "other", resourceBody: { id: "new", pk: "other" } },
    { operationType: BulkOperationType.Read, partitionKey: "kinds", id: "old" },
    { operationType: BulkOperationType.Patch, partitionKey: "kinds", id: "old", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
    { operationType: BulkOperationType.Delete, partitionKey: "none", id: "missing" },
  ]);
  assert.deepEqual(
    results.map((one) => one.response?.statusCode ?? Number(one.error?.code)),
    [201, 409, 201, 200, 200, 404],
  );
  assert.equal((await made.container.item("old", "kinds").read()).resource.n, 2);
});
