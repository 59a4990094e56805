// The cases of graphql-ws's test suite (tests/server.test.ts, use.test.ts, client.test.ts), in other
// words (PROTOCOL.md). docs/testing.md lists those that do not apply.
import assert from "node:assert/strict";
import { once } from "node:events";
import { before, describe, test } from "node:test";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { added, changed, newFolder, Received, serve, until } from "./program.js";

const data = newFolder();
let server;
before(async () => {
  server = await serve(data);
  await server.join();
});

// open returns a client of the server, which connects when it subscribes, and tries nothing again.
const open = (options = {}) => createClient({ url: server.socket, webSocketImpl: WebSocket, retryAttempts: 0, ...options });

// subscribe begins a subscription, which ends with its test.
function subscribe(t, client, payload) {
  const received = new Received();
  const stop = client.subscribe(payload, received);
  t.after(stop);
  return Object.assign(received, { stop });
}

// Raw is a WebSocket without a client of the protocol.
class Raw {
  messages = [];
  constructor(protocol = "graphql-transport-ws") {
    this.socket = new WebSocket(server.socket, protocol);
    this.socket.on("message", (text) => this.messages.push(JSON.parse(String(text))));
    this.closed = once(this.socket, "close").then(([code, reason]) => ({ code, reason: String(reason) }));
    this.opened = once(this.socket, "open");
  }
  async send(...messages) {
    await this.opened;
    for (const message of messages) this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }
  // init begins the connection.
  async init(payload) {
    await this.send({ type: "connection_init", payload });
    assert.deepEqual(await this.next(), { type: "connection_ack" });
    return this;
  }
  // next returns the next message.
  async next() {
    await until("a message", () => this.messages.length > 0);
    return this.messages.shift();
  }
}

// raw returns a WebSocket, which ends with its test.
function raw(t, protocol) {
  const connection = new Raw(protocol);
  t.after(() => connection.socket.terminate());
  return connection;
}

const subscribeTo = (id, query, variables, more) => ({ id, type: "subscribe", payload: { query, variables, ...more } });

describe("the connection", () => {
  test("is acknowledged, with parameters or without", async (t) => {
    for (const payload of [undefined, null, {}, { other: 1 }, { Authorization: "" }, { Authorization: `Bearer ${server.token("anna")}` }]) {
      await raw(t).init(payload);
    }
  });

  test("has the account of its parameters", async (t) => {
    const post = await server.post();
    await server.ask("mutation ($i: LikePostInput!) { likePost(input: $i) { post { id } } }", { i: { postId: post } });
    const query = "subscription ($p: ID!) { postChanged(id: $p) { viewerHasLiked } }";
    const params = { Authorization: `Bearer ${server.token("anna")}` };
    for (const [connectionParams, has] of [[params, true], [() => params, true], [async () => params, true], [undefined, false]]) {
      const client = open({ connectionParams });
      t.after(() => client.dispose());
      const received = subscribe(t, client, { query, variables: { p: post } });
      await until("the state", () => received.results.length === 1);
      assert.equal(received.results[0].data.postChanged.viewerHasLiked, has);
    }
  });

  test("is refused with parameters that are not valid", async (t) => {
    const connection = raw(t);
    await connection.send({ type: "connection_init", payload: { Authorization: "Bearer x" } });
    assert.equal((await connection.closed).code, 4403);
    const received = subscribe(t, open({ connectionParams: { Authorization: "Bearer x" } }), { query: "{ __typename }" });
    await until("the error", () => received.errors.length === 1);
    assert.equal(received.errors[0].code, 4403);
    assert.equal(received.completed, 0);
  });

  test("is closed if nobody begins it in time", async (t) => {
    assert.equal((await raw(t).closed).code, 4408);
  });

  test("begins once", async (t) => {
    const pending = raw(t);
    await pending.send({ type: "connection_init" }, { type: "connection_init" });
    assert.equal((await pending.closed).code, 4429);
    const acknowledged = await raw(t).init();
    await acknowledged.send({ type: "connection_init" });
    assert.equal((await acknowledged.closed).code, 4429);
  });

  test("needs the protocol", async (t) => {
    for (const protocol of [undefined, "graphql-ws", "other"]) {
      const socket = new WebSocket(server.socket, protocol ?? []);
      t.after(() => socket.terminate());
      socket.on("error", () => {}); // `ws` itself refuses an answer without a protocol that it has offered
      const code = await new Promise((resolve) => socket.on("close", resolve));
      assert.ok([4406, 1006].includes(code), String(code));
    }
    const both = new WebSocket(server.socket, ["other", "graphql-transport-ws"]);
    t.after(() => both.terminate());
    await once(both, "open");
    assert.equal(both.protocol, "graphql-transport-ws");
  });

  test("is closed after a message that is not valid", async (t) => {
    const malformed = ["", "x", "[]", "null", { type: "other" }, {}, { type: "subscribe" }, { id: "1", type: "subscribe" }, { id: "", type: "subscribe", payload: { query: changed } }];
    malformed.push({ id: 1, type: "subscribe", payload: { query: changed } }, { id: "1", type: "subscribe", payload: { query: 1 } }, { type: "complete" }, { type: "ping", payload: 1 });
    for (const message of malformed) {
      const connection = await raw(t).init();
      await connection.send(message);
      assert.equal((await connection.closed).code, 4400, JSON.stringify(message));
    }
    const large = await raw(t).init();
    await large.send(" ".repeat(66 << 10));
    const { code, reason } = await large.closed;
    assert.equal(code, 1009);
    assert.ok(reason.length > 0 && reason.length <= 123); // RFC 6455, section 5.5
  });

  test("answers pings, before and after it begins, and no pongs", async (t) => {
    const connection = raw(t);
    await connection.send({ type: "ping" }, { type: "ping", payload: { its: "payload", "<&>": [1, null] } }, { type: "pong" }, { type: "pong", payload: { x: 1 } });
    assert.deepEqual(await connection.next(), { type: "pong" });
    assert.deepEqual(await connection.next(), { type: "pong", payload: { its: "payload", "<&>": [1, null] } });
    await connection.init();
    await connection.send({ type: "pong" }, { type: "ping" });
    assert.deepEqual(await connection.next(), { type: "pong" });
    assert.deepEqual(connection.messages, []);
  });
});

describe("an operation", () => {
  test("needs a connection that has begun", async (t) => {
    const connection = raw(t);
    await connection.send(subscribeTo("1", changed, { p: "x" }));
    assert.equal((await connection.closed).code, 4401);
  });

  test("is a subscription: queries and mutations are sent over HTTP", async (t) => {
    const connection = await raw(t).init();
    for (const query of ["{ __typename }", 'mutation { deletePost(input: {id: "x"}) { post { id } } }']) {
      await connection.send(subscribeTo("1", query));
      const { type, id, payload } = await connection.next();
      assert.deepEqual([type, id, payload[0].extensions.code], ["error", "1", "BAD_USER_INPUT"]);
    }
    const received = subscribe(t, open(), { query: "{ __typename }" });
    await until("the error", () => received.errors.length === 1);
    assert.equal(received.errors[0][0].extensions.code, "BAD_USER_INPUT");
    assert.equal(received.completed, 0); // nothing follows an error
  });

  test("has its results, and is complete", async (t) => {
    const post = await server.post("A post");
    const connection = await raw(t).init();
    await connection.send(subscribeTo("an id", changed, { p: post }, { operationName: null, extensions: null }));
    assert.deepEqual(await connection.next(), { id: "an id", type: "next", payload: { data: { postChanged: { title: "A post", commentCount: 0 } } } });
    await server.remove(post);
    assert.deepEqual(await connection.next(), { id: "an id", type: "next", payload: { data: { postChanged: null } } });
    assert.deepEqual(await connection.next(), { id: "an id", type: "complete" });
    await connection.send({ id: "an id", type: "complete" }); // crosses that of the server
    await connection.send(subscribeTo("an id", changed, { p: await server.post("Another") })); // the id is free again
    assert.equal((await connection.next()).payload.data.postChanged.title, "Another");
  });

  test("is refused with errors of its document, and nothing follows", async (t) => {
    const connection = await raw(t).init();
    const refused = [
      ["subscription { nothing }", {}, "GRAPHQL_VALIDATION_FAILED"],
      ["subscription {", {}, "GRAPHQL_PARSE_FAILED"],
      [changed, {}, "BAD_USER_INPUT"],
      [changed, { p: "no id" }, "BAD_USER_INPUT"],
      [changed, { p: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa" }, undefined], // NOT_FOUND, as a result or as an error
    ];
    for (const [query, variables, code] of refused) {
      await connection.send(subscribeTo("1", query, variables));
      const { type, payload } = await connection.next();
      if (code) assert.deepEqual([type, payload[0].extensions.code], ["error", code]);
      if (type === "next") assert.deepEqual(await connection.next(), { id: "1", type: "complete" });
    }
    await connection.send({ type: "ping" });
    assert.deepEqual(await connection.next(), { type: "pong" });
  });

  test("sends nothing after the client has completed it, not even complete", async (t) => {
    const post = await server.post();
    const connection = await raw(t).init();
    await connection.send(subscribeTo("1", changed, { p: post }), subscribeTo("2", changed, { p: post }));
    await until("both states", () => connection.messages.length === 2);
    connection.messages.length = 0;
    await connection.send({ id: "1", type: "complete" }, { type: "ping" });
    assert.deepEqual(await connection.next(), { type: "pong" });
    await server.comment(post, "x");
    await server.remove(post);
    await until("the end of the other one", () => connection.messages.some(({ type }) => type === "complete"));
    assert.ok(connection.messages.every(({ id }) => id === "2"), JSON.stringify(connection.messages));
  });

  test("can be completed while it begins, and before", async (t) => {
    const post = await server.post();
    const connection = await raw(t).init();
    await connection.send({ id: "0", type: "complete" });
    for (let i = 0; i < 50; i++) await connection.send(subscribeTo("1", changed, { p: post }), { id: "1", type: "complete" });
    await connection.send({ type: "ping" });
    await until("the pong", () => connection.messages.some(({ type }) => type === "pong"));
    assert.ok(connection.messages.every(({ type }) => type === "next" || type === "pong"), JSON.stringify(connection.messages));
  });

  test("has an id of its own", async (t) => {
    const post = await server.post();
    const connection = await raw(t).init();
    await connection.send(subscribeTo("1", changed, { p: post }), subscribeTo("1", changed, { p: post })); // also while the first one begins
    assert.equal((await connection.closed).code, 4409);
  });

  test("gets a document by its hash, or says that there is none", async (t) => {
    const connection = await raw(t).init();
    await connection.send({ id: "1", type: "subscribe", payload: { query: "", extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } } });
    assert.equal((await connection.next()).payload[0].extensions.code, "PERSISTED_QUERY_NOT_FOUND");
    await connection.send({ id: "1", type: "subscribe", payload: { documentId: "unknown" } });
    assert.equal((await connection.next()).payload[0].extensions.code, "PERSISTED_QUERY_NOT_FOUND");
  });
});

describe("the client", () => {
  test("gets the results of each subscription, and ends each alone", async (t) => {
    const client = open({ url: () => server.socket });
    t.after(() => client.dispose());
    const posts = [await server.post("0"), await server.post("1"), await server.post("2")];
    const received = posts.map((p) => subscribe(t, client, { query: changed, variables: { p } }));
    await until("the states", () => received.every(({ results }) => results.length === 1));
    received.forEach(({ results }, i) => assert.equal(results[0].data.postChanged.title, String(i)));
    received[1].stop();
    received[1].stop(); // has no effect
    const late = subscribe(t, client, { query: added, variables: { p: posts[1], a: "" } });
    await server.comment(posts[1], "x");
    await until("the comment", () => late.results.length === 1);
    assert.deepEqual([received[1].results.length, received[1].completed, received[0].completed], [1, 1, 0]);
    await server.remove(posts[0]);
    await until("the end", () => received[0].completed === 1);
    assert.deepEqual(received.map(({ errors }) => errors.length), [0, 0, 0]);
  });

  test("connects when it subscribes, and disconnects after the last one", async (t) => {
    const post = await server.post();
    const events = [];
    const on = Object.fromEntries(["connecting", "opened", "connected", "closed"].map((name) => [name, () => events.push(name)]));
    const client = open({ on });
    assert.deepEqual(events, []);
    const one = subscribe(t, client, { query: changed, variables: { p: post } });
    const two = subscribe(t, client, { query: changed, variables: { p: post } });
    await until("the states", () => one.results.length === 1 && two.results.length === 1);
    assert.deepEqual(events, ["connecting", "opened", "connected"]);
    one.stop();
    assert.equal(events.length, 3);
    two.stop();
    await until("the end", () => events.includes("closed"));
  });

  test("pings the server, and gets its pongs", async (t) => {
    const events = [];
    const client = open({ lazy: false, keepAlive: 20, on: { ping: (received) => events.push(`ping ${received}`), pong: (received) => events.push(`pong ${received}`) } });
    t.after(() => client.dispose());
    await until("two pongs", () => events.filter((event) => event === "pong true").length >= 2);
    assert.equal(events[0], "ping false");
  });

  test("iterates over results", async () => {
    const post = await server.post("Iterated");
    const client = open();
    for await (const { data } of client.iterate({ query: changed, variables: { p: post } })) {
      assert.equal(data.postChanged.title, "Iterated");
      break; // which ends the subscription
    }
    const returned = client.iterate({ query: changed, variables: { p: post } });
    await returned.next();
    assert.equal((await returned.return()).done, true);
    await assert.rejects(client.iterate({ query: "subscription { nothing }" }).next(), (errors) => errors[0].extensions.code === "GRAPHQL_VALIDATION_FAILED");
    await assert.rejects(open({ connectionParams: { Authorization: "Bearer x" } }).iterate({ query: changed }).next(), ({ code }) => code === 4403);
  });

  test("is told at once of what it must not repeat", async (t) => {
    let tries = 0;
    const client = open({ retryAttempts: 5, on: { connecting: () => tries++, connected: (socket) => socket.send("x") } });
    const received = subscribe(t, client, { query: changed, variables: { p: await server.post() } });
    await until("the error", () => received.errors.length === 1);
    assert.deepEqual([received.errors[0].code, tries], [4400, 1]);
  });
});

describe("a server that goes away", () => {
  test("says so, and the client goes on at the next one", async (t) => {
    const folder = newFolder();
    const other = await serve(folder);
    await other.join();
    const post = await other.post();
    const codes = [];
    const options = { url: other.socket, retryAttempts: 1000, retryWait: () => new Promise((resolve) => setTimeout(resolve, 20)), shouldRetry: () => true };
    const client = open({ ...options, on: { closed: ({ code }) => codes.push(code) } });
    t.after(() => client.dispose());
    const states = subscribe(t, client, { query: changed, variables: { p: post } });
    const comments = subscribe(t, client, { query: added, variables: { p: post, a: "" } });
    const alone = subscribe(t, open({ ...options, retryAttempts: 0 }), { query: changed, variables: { p: post } });
    await other.comment(post, "1");
    await until("the comment", () => comments.results.length === 1 && states.results.at(-1).data.postChanged.commentCount === 1 && alone.results.length > 0);
    await other.stop();
    await until("the error", () => alone.errors.length === 1);
    assert.equal(alone.errors[0].code, 1001);
    const again = await serve(folder, [], other.addr);
    await again.comment(post, "2");
    await until("both", () => comments.contents.at(-1) === "2" && states.results.at(-1).data.postChanged.commentCount === 2);
    assert.equal(codes[0], 1001);
    assert.deepEqual([states.errors, comments.errors, states.completed, comments.completed], [[], [], 0, 0]);
  });
});
