// The account under test, with a separate database for each test file.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { randomUUID } from "node:crypto";
import { CosmosClient } from "@azure/cosmos";

export const endpoint = needed("COSMOS_CONFORMANCE_ENDPOINT");
export const key = needed("COSMOS_CONFORMANCE_KEY");

function needed(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; run ../run, which starts an engine and sets it`);
  return value;
}

// isEngine is true if the account is this project's engine. ../run sets it.
export const isEngine = process.env.COSMOS_CONFORMANCE_ENGINE === "1";

export const client = new CosmosClient({ endpoint, key });

// partitionKey is the definition used by the containers. azcosmos and this project always use
// version 2.
export const partitionKey = { paths: ["/pk"], version: 2 };

// withContainer creates a database with one container before the tests of a file, fills it, and
// deletes it after them. The returned object is complete when the tests start.
export function withContainer(definition = {}, fill = async () => {}) {
  const made = {};
  before(async () => {
    const id = `conformance-${randomUUID()}`;
    made.database = (await client.databases.create({ id })).database;
    const response = await made.database.containers.create({ id: "items", partitionKey, ...definition });
    made.container = response.container;
    await fill(made.container);
  });
  after(async () => {
    await made.database?.delete();
    client.dispose();
  });
  return made;
}

// rejected checks that a promise is rejected with a status, and returns the error.
export async function rejected(promise, status) {
  let failure;
  try {
    await promise;
  } catch (error) {
    failure = error;
  }
  assert.ok(failure, `not rejected, want ${status}`);
  assert.equal(Number(failure.code), status, failure.message);
  return failure;
}

export const ids = (items) => items.map((item) => item.id);

// controlled is the address and key of a second account, which order controls: an object with refuse
// ({times, status, headers}), split and merge ({database, container, range}) and advance (seconds).
// order returns the number of requests since the one before. Only cosmostest has them.
export const controlled = process.env.COSMOS_CONFORMANCE_CONTROLLED && {
  endpoint: process.env.COSMOS_CONFORMANCE_CONTROLLED,
  key: process.env.COSMOS_CONFORMANCE_CONTROLLED_KEY,
};

export async function order(what = {}) {
  const response = await fetch(process.env.COSMOS_CONFORMANCE_CONTROL, { method: "POST", body: JSON.stringify(what) });
  assert.equal(response.status, 200, `${JSON.stringify(what)} failed`);
  return (await response.json()).requests;
}
