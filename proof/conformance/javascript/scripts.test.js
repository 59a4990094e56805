import assert from "node:assert/strict";
import { test } from "node:test";
import { TriggerOperation, TriggerType } from "@azure/cosmos";
import { ids, rejected, withContainer } from "./account.js";

const made = withContainer();

test("stored procedures: create, read, list, query, replace, delete", async () => {
  const { storedProcedures } = made.container.scripts;
  const { resource, storedProcedure } = await storedProcedures.create({ id: "managed", body: "function () { return 1; }" });
  assert.ok(resource._etag);
  await rejected(storedProcedures.create({ id: "managed", body: "function () {}" }), 409);
  assert.equal((await storedProcedure.read()).resource.id, "managed");
  assert.deepEqual(ids((await storedProcedures.readAll().fetchAll()).resources), ["managed"]);
  const query = { query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: "managed" }] };
  assert.equal((await storedProcedures.query(query).fetchAll()).resources.length, 1);
  const replaced = await storedProcedure.replace({ id: "managed", body: "function () { getContext().getResponse().setBody(2); }" });
  assert.notEqual(replaced.resource._etag, resource._etag);
  assert.equal((await storedProcedure.execute("p", [])).resource, 2);
  await storedProcedure.delete();
  await rejected(storedProcedure.execute("p", []), 404);
});

async function procedure(id, body) {
  return (await made.container.scripts.storedProcedures.create({ id, body })).storedProcedure;
}

test("execute: arguments, body, log, session, charge", async () => {
  const echo = await procedure(
    "echo",
    function (first, second) {
      console.log("called with %s", first);
      getContext().getResponse().setBody({ first, second });
    }.toString(),
  );
  const result = await echo.execute("p", ["ä", { n: 1 }], { enableScriptLogging: true });
  assert.deepEqual(result.resource, { first: "ä", second: { n: 1 } });
  assert.match(decodeURIComponent(result.headers["x-ms-documentdb-script-log-results"]), /called with ä/);
  assert.ok(result.requestCharge > 0);
  assert.deepEqual((await echo.execute("p")).resource, {}); // without arguments
});

test("execute: all writes commit, or none", async () => {
  const write = await procedure(
    "write",
    function (count, fail) {
      const collection = getContext().getCollection();
      for (let i = 0; i < count; i++) {
        const accepted = collection.createDocument(collection.getSelfLink(), { id: "s" + i, pk: "scripts" }, (error) => {
          if (error) throw error;
        });
        if (!accepted) throw new Error("not accepted");
      }
      if (fail) throw new Error(4041, "requested failure");
      getContext().getResponse().setBody(count);
    }.toString(),
  );
  const failure = await rejected(write.execute("scripts", [3, true]), 400);
  assert.equal(failure.substatus, 4041);
  assert.match(failure.message, /requested failure/);
  assert.equal((await made.container.item("s0", "scripts").read()).statusCode, 404);
  assert.equal((await write.execute("scripts", [3])).resource, 3);
  assert.equal((await made.container.item("s2", "scripts").read()).statusCode, 200);
});

test("execute: compilation errors and exceptions", async () => {
  await rejected((await procedure("broken", "function ( {")).execute("p", []), 400);
  const thrown = await rejected((await procedure("throws", "function () { throw new Error('no'); }")).execute("p", []), 400);
  assert.match(thrown.message, /Encountered exception while executing/);
});

test("a pre-trigger changes the item", async () => {
  const { triggers } = made.container.scripts;
  await triggers.create({
    id: "stamp",
    triggerType: TriggerType.Pre,
    triggerOperation: TriggerOperation.Create,
    body: function () {
      const request = getContext().getRequest();
      const item = request.getBody();
      item.stamped = true;
      request.setBody(item);
    }.toString(),
  });
  assert.equal((await triggers.readAll().fetchAll()).resources.length, 1);
  const { resource } = await made.container.items.create({ id: "t1", pk: "p" }, { preTriggerInclude: ["stamp"] });
  assert.equal(resource.stamped, true);
  await rejected(made.container.items.upsert({ id: "t1", pk: "p" }, { preTriggerInclude: ["stamp"] }), 400);
  await rejected(made.container.items.create({ id: "t2", pk: "p" }, { postTriggerInclude: ["stamp"] }), 400);
});

test("a post-trigger writes in the same transaction, or rejects the write", async () => {
  await made.container.scripts.triggers.create({
    id: "audit",
    triggerType: TriggerType.Post,
    triggerOperation: TriggerOperation.All,
    body: function () {
      const context = getContext();
      const item = context.getResponse().getBody();
      if (item.reject) throw new Error("rejected by the trigger");
      const collection = context.getCollection();
      const accepted = collection.createDocument(collection.getSelfLink(), { id: "audit-" + item.id, pk: item.pk });
      if (!accepted) throw new Error("not accepted");
    }.toString(),
  });
  const options = { postTriggerInclude: ["audit"] };
  await made.container.items.create({ id: "t3", pk: "p" }, options);
  assert.equal((await made.container.item("audit-t3", "p").read()).statusCode, 200);
  const failure = await rejected(made.container.items.create({ id: "t4", pk: "p", reject: true }, options), 400);
  assert.match(failure.message, /rejected by the trigger/);
  assert.equal((await made.container.item("t4", "p").read()).statusCode, 404);
});
