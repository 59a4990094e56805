// The cases of graphql-sse's test suite (tests/handler.test.ts, client.test.ts), in other words, for
// its mode of distinct connections (PROTOCOL.md). docs/testing.md lists those that do not apply.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { EventSource } from "eventsource";
import { createClient, NetworkError } from "graphql-sse";
import { added, changed, newFolder, Received, serve, until } from "./program.js";

const places = 4; // of subscriptions from an address
const args = ["--max-client-subscriptions", String(places)];
const data = newFolder();
let server;
before(async () => {
  server = await serve(data, args);
  await server.join();
});

// open returns a client of the server, which tries nothing again.
const open = (options = {}) => createClient({ url: server.url, retryAttempts: 0, ...options });

// subscribe begins a subscription, which ends with its test.
function subscribe(t, client, payload) {
  const received = new Received();
  const stop = client.subscribe(payload, received);
  t.after(stop);
  return Object.assign(received, { stop });
}

// send sends a request that accepts an event stream, without a client.
const send = (body, { accept = "text/event-stream", method = "POST", search = "", signal } = {}) =>
  fetch(server.url + search, {
    method,
    headers: { Accept: accept, "Content-Type": "application/json" },
    body: method === "POST" ? JSON.stringify(body) : undefined,
    signal,
  });

describe("the event stream", () => {
  test("has the result of a query, and ends", async () => {
    for (const response of [await send({ query: "{ __typename }" }), await send(null, { method: "GET", search: "?query={__typename}" })]) {
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      assert.equal(await response.text(), 'event: next\ndata: {"data":{"__typename":"Query"}}\n\nevent: complete\ndata: \n\n');
    }
  });

  test("has the results of a subscription, and ends when it is complete", async () => {
    const post = await server.post("A post");
    const response = await send({ query: changed, variables: { p: post } });
    const removed = server.remove(post);
    const text = await response.text();
    await removed;
    assert.match(text, /^:\n\n/); // so that the client knows at once that it is connected
    assert.match(text, /event: next\ndata: \{"data":\{"postChanged":\{"title":"A post","commentCount":0\}\}\}\n\n/);
    assert.match(text, /event: next\ndata: \{"data":\{"postChanged":null\}\}\n\nevent: complete\ndata: \n\n$/);
  });

  test("has the errors of a request that is not valid", async () => {
    for (const [body, code] of [
      [{ query: "{ nothing }" }, "GRAPHQL_VALIDATION_FAILED"],
      [{ query: "subscription { nothing }" }, "GRAPHQL_VALIDATION_FAILED"],
      [{ query: "subscription {" }, "GRAPHQL_PARSE_FAILED"],
      [{ query: changed, variables: {} }, "BAD_USER_INPUT"],
      [{ query: changed, operationName: "Other", variables: {} }, "BAD_USER_INPUT"],
      [{ documentId: "unknown" }, "PERSISTED_QUERY_NOT_FOUND"],
      [{}, "BAD_USER_INPUT"],
    ]) {
      const response = await send(body);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      const match = text.match(/^(?::\n\n)?event: next\ndata: (.*)\n\nevent: complete\ndata: \n\n$/);
      assert.ok(match, text);
      const answer = JSON.parse(match[1]);
      assert.equal(answer.errors[0].extensions.code, code);
      assert.ok(!("data" in answer));
    }
  });

  test("is for clients that accept it", async () => {
    for (const accept of ["application/json", "gibberish", "text/event-stream;q=0, */*"]) {
      const response = await send({}, { accept });
      assert.equal(response.status, 400, accept);
      assert.match(response.headers.get("content-type"), /^application\/json/);
      assert.equal((await response.json()).errors[0].extensions.code, "BAD_USER_INPUT");
    }
    assert.equal((await send({}, { method: "PUT" })).status, 405); // there is no mode of a single connection
    assert.equal((await send({}, { method: "DELETE" })).status, 405);
  });

  test("gives back its place when the client disconnects", async () => {
    const post = await server.post();
    for (let i = 0; i < 3 * places; i++) {
      await until("a place is free", async () => {
        const abort = new AbortController();
        const response = await send({ query: changed, variables: { p: post } }, { signal: abort.signal });
        let text = "";
        for await (const chunk of response.body) if ((text += Buffer.from(chunk)).includes("data: ")) break;
        abort.abort();
        return text.includes('"title"');
      });
    }
  });
});

describe("the client", () => {
  test("sends its headers", async (t) => {
    const client = open({ headers: async () => ({ Authorization: `Bearer ${server.token("anna")}` }) });
    const signedIn = subscribe(t, client, { query: "{ viewer { username } }" });
    await until("the answer", () => signedIn.completed === 1);
    assert.deepEqual(signedIn.results, [{ data: { viewer: { username: "anna" } } }]);
    const signedOut = subscribe(t, open({ headers: { Authorization: "" } }), { query: "{ viewer { username } }" });
    await until("the answer", () => signedOut.completed === 1);
    assert.deepEqual(signedOut.results, [{ data: { viewer: null } }]);
    const rejected = subscribe(t, open({ headers: { Authorization: "Bearer x" } }), { query: "{ viewer { username } }" });
    await until("the error", () => rejected.errors.length === 1);
    assert.equal(rejected.errors[0].response.status, 401);
  });

  test("takes its URL from a function", async (t) => {
    const received = subscribe(t, open({ url: async () => `${server.url}/` }), { query: "{ __typename }" });
    await until("the answer", () => received.completed === 1);
    assert.deepEqual(received.results, [{ data: { __typename: "Query" } }]);
  });

  test("gets every message, and emits it", async (t) => {
    const post = await server.post();
    const messages = [];
    const events = [];
    const client = open({
      on: {
        connecting: (isRetry) => events.push(["connecting", isRetry]),
        connected: (isRetry) => events.push(["connected", isRetry]),
        message: (message) => messages.push(message.event),
      },
    });
    const received = subscribe(t, client, { query: added, variables: { p: post } });
    await until("the connection", () => events.length === 2);
    const texts = ["one", "two\nlines\r\n\r\nand more", "data: three\n\nevent: complete\n\n"];
    for (const text of texts) await server.comment(post, text);
    await until("the comments", () => received.results.length === 3);
    await server.remove(post);
    await until("the end", () => received.completed === 1);
    assert.deepEqual(received.contents, texts);
    assert.deepEqual(messages, ["next", "next", "next", "complete"]);
    assert.deepEqual(events, [["connecting", false], ["connected", false]]);
    assert.deepEqual(received.errors, []);
  });

  test("has errors of a document as a result, and is complete", async (t) => {
    const received = subscribe(t, open(), { query: "subscription { nothing }" });
    await until("the end", () => received.completed === 1);
    assert.equal(received.results[0].errors[0].extensions.code, "GRAPHQL_VALIDATION_FAILED");
    assert.deepEqual(received.errors, []);
  });

  test("opens a connection for each subscription, and ends each alone", async (t) => {
    const [one, two] = [await server.post("1"), await server.post("2")];
    const client = open();
    const first = subscribe(t, client, { query: changed, variables: { p: one } });
    const second = subscribe(t, client, { query: changed, variables: { p: two } });
    await until("both states", () => first.results.length === 1 && second.results.length === 1);
    assert.equal(first.results[0].data.postChanged.title, "1");
    assert.equal(second.results[0].data.postChanged.title, "2");
    first.stop();
    await until("the end", () => first.completed === 1);
    await server.comment(one, "x");
    await server.comment(two, "x");
    await until("the second has the comment", () => second.results.at(-1).data.postChanged.commentCount === 1);
    assert.equal(first.results.length, 1);
    client.dispose();
    await until("the end", () => second.completed === 1);
  });

  test("ends subscriptions to which nothing has happened", async (t) => {
    const post = await server.post();
    for (let i = 0; i < 2 * places; i++) {
      await until("a place is free", async () => {
        let isConnected = false;
        const received = new Received();
        const client = open({ on: { connected: () => (isConnected = true) } });
        const stop = client.subscribe({ query: added, variables: { p: post } }, received);
        await until("the connection", () => isConnected);
        stop();
        await until("the end", () => received.completed === 1);
        return received.results.length === 0;
      });
    }
  });

  test("iterates over results", async () => {
    const post = await server.post("Iterated");
    const client = open();
    const query = client.iterate({ query: "{ __typename }" });
    assert.deepEqual(await query.next(), { done: false, value: { data: { __typename: "Query" } } });
    assert.equal((await query.next()).done, true);
    const failed = client.iterate({ query: '{ user(id: "x") { id } }' });
    assert.equal((await failed.next()).value.errors[0].extensions.code, "BAD_USER_INPUT");
    for await (const { data } of client.iterate({ query: changed, variables: { p: post } })) {
      assert.equal(data.postChanged.title, "Iterated");
      break; // which ends the subscription
    }
    const returned = client.iterate({ query: changed, variables: { p: post } });
    await returned.next();
    assert.equal((await returned.return()).done, true);
    await assert.rejects(open({ url: "http://127.0.0.1:1/graphql" }).iterate({ query: "{ __typename }" }).next(), NetworkError);
  });
});

describe("a server that goes away", () => {
  test("is an error of every subscription", async (t) => {
    const other = await serve(newFolder());
    await other.join();
    const post = await other.post();
    const client = open({ url: other.url });
    const quiet = subscribe(t, client, { query: added, variables: { p: post } });
    const told = subscribe(t, client, { query: changed, variables: { p: post } });
    await until("the state", () => told.results.length === 1);
    await other.kill();
    await until("the errors", () => quiet.errors.length === 1 && told.errors.length === 1);
    for (const received of [quiet, told]) assert.ok(received.errors[0] instanceof NetworkError, String(received.errors[0]));
    assert.deepEqual([quiet.completed, told.completed], [0, 0]);
  });

  test("is tried again, as often as the client wants", async (t) => {
    const folder = newFolder();
    const other = await serve(folder);
    await other.join();
    const post = await other.post();
    const events = [];
    const options = {
      url: other.url,
      retryAttempts: 1000,
      retry: () => new Promise((resolve) => setTimeout(resolve, 20)),
      on: { connecting: (isRetry) => events.push(`connecting ${isRetry}`), connected: (isRetry) => events.push(`connected ${isRetry}`) },
    };
    const stays = subscribe(t, open(options), { query: changed, variables: { p: post } });
    let tries = 0;
    const leaves = subscribe(t, open({ ...options, retryAttempts: 2, on: { connecting: () => tries++ } }), { query: changed, variables: { p: post } });
    await until("the states", () => stays.results.length === 1 && leaves.results.length === 1);
    await other.kill();
    await until("the client gives up", () => leaves.errors.length === 1);
    assert.equal(tries, 3);
    const again = await serve(folder, [], other.addr);
    await again.comment(post, "later");
    await until("the state", () => stays.results.at(-1).data.postChanged.commentCount === 1);
    assert.deepEqual(events.slice(0, 2), ["connecting false", "connected false"]);
    assert.equal(events.at(-1), "connected true");
    assert.deepEqual(stays.errors, []);
  });

  test("is not tried again after an error that stays", async (t) => {
    let tries = 0;
    // By default, a client tries network errors again, and a status is one.
    const client = open({ retryAttempts: 2, retry: async () => {}, on: { connecting: () => tries++ }, headers: { Authorization: "Bearer x" } });
    const received = subscribe(t, client, { query: "{ __typename }" });
    await until("the error", () => received.errors.length === 1);
    assert.ok(tries >= 1);
    const invalid = subscribe(t, open({ retryAttempts: 2 }), { query: "{ nothing }" });
    await until("the end", () => invalid.completed === 1); // errors of a document are a result, after which nothing is tried
  });
});

describe("EventSource", () => {
  const urlOf = (query, variables) => `${server.url}?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`;
  const follow = (t, url, fetchFn) => {
    const events = new EventSource(url, fetchFn && { fetch: fetchFn });
    const received = { data: [], ids: [], completed: 0 };
    events.addEventListener("next", ({ data, lastEventId }) => {
      received.data.push(JSON.parse(data));
      received.ids.push(lastEventId);
    });
    events.addEventListener("complete", () => {
      received.completed++;
      events.close();
    });
    events.addEventListener("message", () => received.data.push("an event without a name"));
    t.after(() => events.close());
    return Object.assign(received, { events });
  };

  test("gets results and the end", async (t) => {
    const post = await server.post();
    const received = follow(t, urlOf(changed, { p: post }));
    await until("the state", () => received.data.length === 1);
    await server.remove(post);
    await until("the end", () => received.completed === 1);
    assert.deepEqual(received.data.at(-1), { data: { postChanged: null } });
  });

  test("gets the errors of a document that is not valid", async (t) => {
    for (const [query, code] of [["subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"], ["{", "GRAPHQL_PARSE_FAILED"], ["", "BAD_USER_INPUT"]]) {
      const received = follow(t, urlOf(query, {}));
      await until("the end", () => received.completed === 1);
      assert.equal(received.data[0].errors[0].extensions.code, code);
    }
  });

  test("goes on after a stream that broke before its first event", async (t) => {
    const post = await server.post();
    await server.comment(post, "before");
    let connections = 0;
    const broken = new AbortController();
    const sent = [];
    const received = follow(t, urlOf(added, { p: post }), async (url, init) => {
      sent.push(new Headers(init.headers).get("Last-Event-ID"));
      if (connections++ > 0) return fetch(url, init);
      // The first connection breaks when it has the beginning of the stream, and a comment is written
      // before the next one.
      const response = await fetch(url, { ...init, signal: broken.signal });
      const reader = response.body.getReader();
      let text = "";
      const body = new ReadableStream({
        async pull(controller) {
          const { value } = await reader.read();
          text += Buffer.from(value);
          controller.enqueue(value);
          if (!/^id: .+\n\n/m.test(text)) return;
          await server.comment(post, "meanwhile");
          broken.abort();
          controller.close();
        },
      });
      return new Response(body, { headers: response.headers });
    });
    await until("the comment", () => received.data.length === 1);
    assert.equal(received.data[0].data.commentAdded.node.content, "meanwhile");
    assert.equal(sent[0], null);
    assert.ok(sent[1]);
  });
});
