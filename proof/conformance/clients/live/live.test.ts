// Holds subscriptions to what the libraries need from them, in Node.js and in Chromium. The libraries
// are set up as the examples are. They see servers only through a balancer.
import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import { newFolder, serve, until, type Api } from "../program";
import { Balancer } from "./balancer";
import type { Fault, Post, Sink } from "./library";
import { node, pages, type Place, type RemoteClient } from "./places";

// Received is what a subscription has told a client.
class Received<Data> implements Sink {
  data: Data[] = [];
  faults: Fault[] = [];
  completed = 0;

  next = (data: Data) => void this.data.push(data);
  error = (faults: readonly Fault[]) => void this.faults.push(...faults);
  complete = () => void this.completed++;
}

interface PostChanged {
  postChanged: Post | null;
}
interface CommentAdded {
  commentAdded: { node: { content: string } };
}

const contents = ({ data }: Received<CommentAdded>) => data.map(({ commentAdded }) => commentAdded.node.content);
const last = ({ data }: Received<PostChanged>) => data.at(-1)?.postChanged;
const stateOf = (post: Post | null | undefined) => post && { likes: post.likeCount, comments: post.commentCount };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const places: Place[] = [node(), await pages()];
const origins = ["--cors-origins", places.map(({ origin }) => origin).filter(Boolean).join()];
const data = newFolder();
const balancer = new Balancer();
let stays: Api; // clients get there last

before(async () => {
  stays = await serve(data, origins);
  for (const username of ["anna", "bert"]) {
    await stays.ask("mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }", { input: { username } }, username);
  }
});
after(async () => {
  for (const place of places) await place.close();
  balancer.close();
});

async function createPost(): Promise<string> {
  const create = "mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }";
  const { createPost } = await stays.ask(create, { input: { title: "Title", content: "Text." } }, "anna");
  return createPost.post.id;
}

async function createComments(postId: string, texts: string[]) {
  const create = "mutation ($input: CreateCommentInput!) { createComment(input: $input) { comment { id } } }";
  for (const content of texts) await stays.ask(create, { input: { postId, content } }, "anna");
}

const like = (postId: string) =>
  stays.ask("mutation ($input: LikePostInput!) { likePost(input: $input) { post { id } } }", { input: { postId } }, "bert");

const deletePost = (id: string) =>
  stays.ask("mutation ($input: DeletePostInput!) { deletePost(input: $input) { post { id } } }", { input: { id } }, "anna");

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i));

// Opened is a client with what it has received.
interface Opened {
  name: string;
  library: string;
  client: RemoteClient;
  codes: number[]; // with which its WebSockets were closed
  tokens: number; // that it asked for
}

// open opens a client of each library in each place. token returns its nth token.
async function open(token = (_: number) => stays.token("bert")): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (const place of places) {
    for (const library of place.libraries) {
      const one = { name: `${library} in ${place.name}`, library, codes: [] as number[], tokens: 0 };
      const connection = {
        url: balancer.url,
        token: async () => token(one.tokens++),
        closed: (code: number) => void one.codes.push(code),
      };
      opened.push(Object.assign(one, { client: await place.open(library, connection) }));
    }
  }
  return opened;
}

const usesWebSocket = ({ library }: Opened) => !["graphql-sse", "EventSource"].includes(library);
const hasCache = ({ library }: Opened) => ["Apollo Client", "urql", "Relay"].includes(library);
const sendsToken = ({ library }: Opened) => library !== "EventSource";

// Follower is a client that follows a post.
interface Follower extends Opened {
  comments: Received<CommentAdded>;
  states: Received<PostChanged>;
}

// follow lets clients follow a post that has no comments yet, until the end of a test. It returns
// when they have the post.
async function follow(t: TestContext, clients: Opened[], post: string): Promise<Follower[]> {
  const followers = clients.map((one) => Object.assign(one, { comments: new Received<CommentAdded>(), states: new Received<PostChanged>() }));
  await Promise.all(
    followers.map(async ({ client, comments, states }) => {
      t.after(await client.subscribe("CommentAdded", { postId: post, after: await client.read(post) }, comments));
      t.after(await client.subscribe("PostChanged", { id: post }, states));
    }),
  );
  await untilEach("the post", followers, ({ states }) => states.data.length > 0);
  return followers;
}

// untilEach waits until something is true for each client. Otherwise, it names the others, with their
// errors.
async function untilEach<One extends Opened>(what: string, clients: One[], isTrue: (client: One) => boolean) {
  await until(what, async () => clients.every(isTrue)).catch(() => {
    const missing = clients.filter((one) => !isTrue(one)).map((one) => {
      const received = Object.values(one).filter((value) => value instanceof Received);
      return `${one.name} ${JSON.stringify(received.flatMap(({ faults }) => faults))}`;
    });
    throw new Error(`after 30 s, still not: ${what}\n${missing.join("\n")}`);
  });
}

// each runs a test for each client.
async function each<One extends Opened>(t: TestContext, clients: One[], run: (client: One) => Promise<void>) {
  await Promise.all(clients.map((client) => t.test(client.name, () => run(client))));
}

describe("subscriptions", { concurrency: false }, () => {
  test("go on at another server", async (t) => {
    const killed = await serve(data, [...origins, "--projector=false"]);
    const stopped = await serve(data, [...origins, "--projector=false"]);
    await balancer.to(killed.url);
    const post = await createPost();
    const clients = await follow(t, await open(), post);
    const has = (count: number) => ({ comments }: Follower) => comments.data.length >= count;
    await createComments(post, numbers(0, 5));
    await untilEach("five comments", clients, has(5));

    await killed.kill();
    await balancer.to("refused");
    await createComments(post, numbers(5, 30));
    await like(post);
    await sleep(4000); // every client has tried, and was refused
    await balancer.to(stopped.url);
    await createComments(post, numbers(30, 35));
    await untilEach("35 comments", clients, has(35));

    await balancer.to("503");
    await stopped.stop();
    await createComments(post, numbers(35, 40));
    await sleep(4000);
    await balancer.to(stays.url);
    await createComments(post, numbers(40, 45));
    await untilEach("45 comments", clients, has(45));
    await untilEach("the last state", clients, ({ states }) => last(states)?.commentCount === 45);

    await each(t, clients, async (one) => {
      assert.deepEqual(one.comments.faults, []);
      assert.deepEqual(one.states.faults, []);
      assert.deepEqual(contents(one.comments), numbers(0, 45));
      assert.deepEqual(stateOf(last(one.states)), { likes: 1, comments: 45 });
      if (hasCache(one)) assert.deepEqual(stateOf(await one.client.shown(post)), { likes: 1, comments: 45 });
      if (usesWebSocket(one)) assert.ok(one.codes.includes(1001), `the codes ${one.codes}`);
      assert.equal(one.comments.completed + one.states.completed, 0);
    });
  });

  test("end with their post", async (t) => {
    await balancer.to(stays.url);
    const post = await createPost();
    const clients = await follow(t, await open(), post);
    await createComments(post, ["0"]);
    await untilEach("the comment", clients, ({ comments }) => comments.data.length === 1);
    await deletePost(post);
    await untilEach("the end", clients, ({ comments, states }) => comments.completed + states.completed === 2);
    const { requests } = balancer;
    await sleep(5000); // more than any library waits before it connects again
    await each(t, clients, async (one) => {
      assert.deepEqual(contents(one.comments), ["0"]);
      assert.equal(last(one.states), null);
      assert.deepEqual([one.comments.completed, one.states.completed], [1, 1]);
      assert.deepEqual([one.comments.faults, one.states.faults], [[], []]);
    });
    assert.equal(balancer.requests, requests, "requests after the end");
  });

  test("go on with a new token", async (t) => {
    await balancer.to(stays.url);
    const post = await createPost();
    await like(post);
    const opened = await open((n) => (n < 3 ? stays.shortToken("bert") : stays.token("bert")));
    const clients = await follow(t, opened.filter(sendsToken), post);
    for (let n = 0; n < 40; n++) {
      await createComments(post, [String(n)]);
      await sleep(200);
    }
    await untilEach("40 comments", clients, ({ comments }) => comments.data.length >= 40);
    await untilEach("the last state", clients, ({ states }) => last(states)?.commentCount === 40);
    await each(t, clients, async (one) => {
      assert.deepEqual([one.comments.faults, one.states.faults], [[], []]);
      assert.deepEqual(contents(one.comments), numbers(0, 40));
      assert.equal(last(one.states)?.viewerHasLiked, true);
      assert.ok(one.tokens > 2, `${one.tokens} tokens`);
      if (usesWebSocket(one)) assert.ok(one.codes.length > 0 && one.codes.every((code) => code === 4403), `the codes ${one.codes}`);
    });
  });

  test("tell what is wrong with them", async (t) => {
    await balancer.to(stays.url);
    const [post, deleted] = [await createPost(), await createPost()];
    await deletePost(deleted);
    const clients = (await open()).map((one) => Object.assign(one, { cursor: new Received(), missing: new Received() }));
    for (const { client, cursor, missing } of clients) {
      await client.subscribe("CommentAdded", { postId: post, after: "x" }, cursor);
      await client.subscribe("PostChanged", { id: deleted }, missing);
    }
    await untilEach("the errors", clients, ({ cursor, missing }) => cursor.faults.length > 0 && missing.faults.length > 0);
    await sleep(3000); // no library tries again
    await each(t, clients, async ({ cursor, missing }) => {
      assert.deepEqual([cursor.faults.length, missing.faults.length], [1, 1]);
      const [badInput, notFound] = [cursor.faults[0]!, missing.faults[0]!];
      assert.equal(badInput.extensions?.code, "BAD_USER_INPUT");
      assert.deepEqual(badInput.extensions?.field, ["after"]);
      assert.match(badInput.message, /not a valid cursor/);
      assert.equal(notFound.extensions?.code, "NOT_FOUND");
      assert.match(notFound.message, /post/i);
    });
  });

  test("make no library complain", () => {
    for (const place of places) assert.deepEqual(place.complaints, [], place.name);
  });
});
