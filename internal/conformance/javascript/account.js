// The account under test, and a database of its own for each file of tests.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { randomUUID } from "node:crypto";
import { CosmosClient } from "@azure/cosmos";

export const endpoint = needed("COSMOS_CONFORMANCE_ENDPOINT");
export const key = needed("COSMOS_CONFORMANCE_KEY");

function needed(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: ../run starts an engine and sets it`);
  return value;
}

// isEngine tells that it is this project's engine which answers: ../run says so.
export const isEngine = process.env.COSMOS_CONFORMANCE_ENGINE === "1";

export const client = new CosmosClient({ endpoint, key });

// partitionKey of the containers: azcosmos and this project always ask for version 2.
export const partitionKey = { paths: ["/pk"], version: 2 };

// withContainer makes a database with one container before the tests of a file, fills it, and deletes it after them. What it
// gives is there when they begin.
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

// refused holds a promise to be refused with a status, and gives the error.
export async function refused(promise, status) {
  let failure;
  try {
    await promise;
  } catch (error) {
    failure = error;
  }
  assert.ok(failure, `was not refused, want ${status}`);
  assert.equal(Number(failure.code), status, failure.message);
  return failure;
}

export const ids = (items) => items.map((item) => item.id);
