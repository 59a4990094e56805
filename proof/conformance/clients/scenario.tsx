// The tests that every library must pass, through the pages that people see.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, mock, test } from "node:test";
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { newFolder, serve, serveThrottled, until, type Api } from "./program";
import type { Library } from "./views";

const wait = { timeout: 10_000 };

// Exchange is a request of a library with its answer.
interface Exchange {
  method: string;
  body: { query?: string; variables?: any; extensions?: any };
  status: number;
  answer: { data?: any; errors?: { extensions: { code: string } }[] };
  at: number; // ms
}

// record returns a fetch that records its exchanges. It loses the first `lost` answers.
function record(exchanges: Exchange[], lost = 0): typeof fetch {
  return async (input, init) => {
    const at = performance.now();
    const request = new Request(input, init);
    const query = new URL(request.url).searchParams;
    const extensions = query.get("extensions");
    const body =
      request.method === "POST"
        ? await request.clone().json()
        : { query: query.get("query") ?? undefined, extensions: extensions ? JSON.parse(extensions) : undefined };
    const response = await fetch(request);
    const answer = await response.clone().json();
    exchanges.push({ method: request.method, body, status: response.status, answer, at });
    if (exchanges.length <= lost) throw new TypeError("the connection was cut");
    return response;
  };
}

const codes = ({ answer }: Exchange) => answer.errors?.map(({ extensions }) => extensions.code);

const feedIds = async (api: Api) => {
  const { feed } = await api.ask("{ feed(first: 100) { edges { node { id } } } }");
  return feed.edges.map((edge: any) => edge.node.id) as string[];
};

// createPosts creates posts one after the other and returns their ids.
async function createPosts(api: Api, account: string, titles: string[]): Promise<string[]> {
  const ids = [];
  for (const title of titles) {
    const create = "mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }";
    const { createPost } = await api.ask(create, { input: { title, content: `The text of ${title}.` } }, account);
    ids.push(createPost.post.id);
  }
  return ids;
}

const createUser = (api: Api, username: string) =>
  api.ask("mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }", { input: { username } }, username);

const numbered = (n: number, name: string) => Array.from({ length: n }, (_, i) => `${name} ${i + 1}`);

const click = (within: { getByRole: typeof screen.getByRole }, name: string) =>
  fireEvent.click(within.getByRole("button", { name }));

// Pages.
const feed = async () => within(await screen.findByRole("region", { name: "Feed" }, wait));
const page = async () => within(await screen.findByRole("article", { name: "Post" }, wait));
const shownIds = () => Array.from(document.querySelectorAll<HTMLElement>("ol > li"), (item) => item.dataset.id);
const textOf = (id: string) => document.querySelector(`[data-id="${id}"]`)?.textContent;

// send fills in fields of the form with a title, and sends it.
async function send(title: string, values: Record<string, string>) {
  const form = within(await screen.findByRole("form", { name: title }, wait));
  for (const [field, value] of Object.entries(values)) {
    fireEvent.change(form.getByRole("textbox", { name: field }), { target: { value } });
  }
  click(form, "Send");
}

// shown returns the messages beside the fields, and the codes on top of the form.
function shown() {
  const fields: Record<string, string> = {};
  for (const input of document.querySelectorAll("input")) {
    const message = document.getElementById(input.getAttribute("aria-errormessage")!)!.textContent!;
    assert.equal(input.getAttribute("aria-invalid"), String(message !== ""));
    if (message) fields[input.getAttribute("aria-label")!] = message;
  }
  return { fields, top: screen.queryAllByRole("alert").map(({ dataset }) => dataset.code) };
}

// expectErrors waits until a form shows messages beside exactly these fields, and these codes on top.
async function expectErrors(fields: Record<string, RegExp>, top: string[] = []) {
  await waitFor(() => {
    const is = shown();
    assert.deepEqual(is.top, top);
    assert.deepEqual(Object.keys(is.fields), Object.keys(fields));
    for (const [field, message] of Object.entries(fields)) assert.match(is.fields[field]!, message);
  }, wait);
}

const expectSaved = async () => {
  await screen.findByRole("status", undefined, wait);
  assert.deepEqual(shown(), { fields: {}, top: [] });
};

// watchConsole fails a test in which a library warns, for example of an object without a key.
function watchConsole() {
  const complaints: unknown[][] = [];
  beforeEach(() => {
    complaints.length = 0;
    for (const method of ["warn", "error"] as const) {
      mock.method(console, method, (...args: unknown[]) => complaints.push(args));
    }
  });
  afterEach(() => {
    cleanup();
    mock.restoreAll();
    assert.deepEqual(complaints, []);
  });
}

export function scenario(library: Library) {
  const { Feed, Post, SignUp, NewPost, NewComment, EditPost, TwoPosts, connect } = library;

  describe(library.name, () => {
    let api: Api;
    let posts: string[]; // of Anna and Ben, newest first
    watchConsole();

    before(async () => {
      api = await serve(newFolder());
      for (const name of ["Anna", "Ben"]) await createUser(api, name);
      const ids = [
        ...(await createPosts(api, "Anna", numbered(13, "Anna's"))),
        ...(await createPosts(api, "Ben", numbered(12, "Ben's"))),
      ];
      posts = ids.reverse();
      await until("all posts are in the feed", async () => (await feedIds(api)).length === posts.length);
    });

    // As returns a component that is signed in with an account.
    const as = (account: string, fetch?: typeof globalThis.fetch) => {
      const token = api.token(account);
      return connect({ url: api.url, fetch, token: () => token });
    };

    test("the types were generated from the schema that the server publishes", async () => {
      const response = await fetch(new URL("/schema.graphql", api.url));
      assert.equal(await response.text(), readFileSync("generated/schema.graphql", "utf8"));
    });

    test("the feed is paged to its end", async () => {
      const exchanges: Exchange[] = [];
      const Blog = as("Anna", record(exchanges));
      render(<Blog><Feed first={10} /></Blog>);
      for (const length of [10, 20]) {
        await waitFor(() => assert.equal(shownIds().length, length), wait);
        click(await feed(), "More");
      }
      await waitFor(() => assert.equal(shownIds().length, posts.length), wait);
      assert.deepEqual(shownIds(), posts);
      assert.equal((await feed()).queryAllByRole("button", { name: "More" }).length, 0);

      const pages = exchanges.map(({ answer }) => answer.data.feed);
      assert.deepEqual(pages.map(({ edges, pageInfo }) => [edges.length, pageInfo.hasNextPage]), [[10, true], [10, true], [5, false]]);
      for (const { edges, pageInfo } of pages) assert.equal(pageInfo.endCursor, edges.at(-1).cursor);
      assert.equal(document.querySelector("section")!.dataset.endCursor, pages[2].pageInfo.endCursor);
    });

    test("ids are plain and equal everywhere", async () => {
      const Blog = as("Anna");
      render(<Blog><Feed first={100} /></Blog>);
      await feed();
      const { node, userByUsername, viewer } = await api.ask(
        `query ($id: ID!) {
          node(id: $id) { id ... on Post { author { id posts(first: 100) { edges { node { id } } } } } }
          userByUsername(username: "anna") { id }
          viewer { id }
        }`,
        { id: posts.at(-1) },
        "Anna",
      );
      assert.equal(node.id, posts.at(-1));
      assert.deepEqual(new Set([node.author.id, userByUsername.id]), new Set([viewer.id]));
      const own = document.querySelectorAll<HTMLElement>("[data-is-own=true]");
      assert.deepEqual(Array.from(own, ({ dataset }) => dataset.id), node.author.posts.edges.map((edge: any) => edge.node.id));
      for (const id of shownIds()) assert.match(id!, /^p_[A-Za-z0-9_]+$/);
    });

    test("posts of the feed have their newest comments", async () => {
      const { feed } = await api.ask(`
        { feed { nodes { title commentCount recentComments { excerpt author { username } creationDate } } } }
      `);
      assert.ok(feed.nodes.length > 0);
      for (const { commentCount, recentComments } of feed.nodes) assert.equal(recentComments.length, Math.min(3, commentCount));
    });

    test("a like changes the post everywhere, and its removal removes it", async () => {
      const exchanges: Exchange[] = [];
      const Blog = as("Anna", record(exchanges));
      const id = posts[3]!;
      await api.ask("mutation ($id: ID!) { likePost(input: { postId: $id }) { like { id } } }", { id }, "Ben");
      await until("the feed has Ben's like", async () => {
        const { feed } = await api.ask("{ feed { edges { node { id likeCount } } } }");
        return feed.edges.some(({ node }: any) => node.id === id && node.likeCount === 1);
      });
      render(<Blog><Feed first={10} /><Post id={id} /></Blog>);
      const post = await page();
      const both = async (text: RegExp) =>
        waitFor(() => {
          assert.match(document.querySelector("article p")!.textContent!, text);
          assert.match(textOf(id)!, text);
        }, wait);
      const likers = () => post.getAllByRole("listitem").map(({ textContent }) => textContent);
      await feed();
      await both(/, 1 likes$/);
      assert.deepEqual(likers(), ["Ben"]);

      click(post, "Like");
      await both(/, 2 likes, one by you$/);
      await waitFor(() => assert.deepEqual(likers(), ["Anna", "Ben"]), wait);
      const likeId = document.querySelector<HTMLElement>("article li")!.dataset.id!;

      click(post, "Unlike");
      await both(/, 1 likes$/);
      await waitFor(() => assert.deepEqual(likers(), ["Ben"]), wait);
      assert.equal(exchanges.findLast(({ answer }) => answer.data.unlikePost)!.answer.data.unlikePost.unlikedLikeId, likeId);
      assert.equal((await api.ask("query ($id: ID!) { node(id: $id) { id } }", { id: likeId })).node, null);
    });

    test("a post is read again by its id", async () => {
      const Blog = as("Anna");
      const id = posts[5]!;
      render(<Blog><Feed first={10} /><Post id={id} /></Blog>);
      const post = await page();
      await feed();
      await api.ask(`mutation ($id: ID!) { updatePost(input: { id: $id, title: "Renamed" }) { post { id } } }`, { id }, "Ben");
      assert.match(textOf(id)!, /^Ben's/);
      click(post, "Refresh");
      await waitFor(() => assert.match(textOf(id)!, /^Renamed by Ben/), wait);
      post.getByText(/^Renamed by Ben/);
      post.getByText("Version 2");
    });

    test("a deleted post disappears everywhere", async () => {
      const Blog = as("Ben");
      const id = posts[2]!;
      render(<Blog><Feed first={10} /><Post id={id} /></Blog>);
      const post = await page();
      await feed();
      assert.equal(shownIds()[2], id);
      click(post, "Delete");
      await screen.findByText("This post does not exist.", undefined, wait);
      posts.splice(2, 1);
      await waitFor(() => assert.deepEqual(shownIds().slice(0, 9), posts.slice(0, 9)), wait);
      await until("others do not see the post either", async () => !(await feedIds(api)).includes(id));
    });

    test("a new post is first in the list at once", async () => {
      const exchanges: Exchange[] = [];
      const Blog = as("Anna", record(exchanges));
      render(<Blog><Feed first={10} /><NewPost idempotencyKey={`new-${library.name}`} /></Blog>);
      click(await feed(), "More");
      await waitFor(() => assert.equal(shownIds().length, 20), wait);
      await send("New post", { title: "New", content: "Text." });
      await expectSaved();
      const id = exchanges.at(-1)!.answer.data.createPost.post.id;
      await waitFor(() => assert.deepEqual(shownIds(), [id, ...posts.slice(0, 20)]), wait);
      assert.match(textOf(id)!, /^New by Anna/);

      click(screen, "Send"); // the same post
      await expectSaved();
      assert.equal(exchanges.at(-1)!.answer.data.createPost.post.id, id);
      posts.unshift(id);
      click(await feed(), "More");
      await waitFor(() => assert.equal(shownIds().length, posts.length), wait);
      assert.deepEqual(shownIds(), posts);
      assert.equal(exchanges.filter(({ answer }) => answer.data.feed).length, 3); // one for each page
      await until("the feed has the new post", async () => (await feedIds(api))[0] === id);
    });

    test("one of two mutations fails", async () => {
      const Blog = as("Anna");
      render(<Blog><TwoPosts titles={[" ", "Good"]} /></Blog>);
      click(screen, "Create");
      await screen.findByText("Good", undefined, wait);
      screen.getByText("null");
      screen.getByText("first: BAD_USER_INPUT");
    });

    describe("forms", () => {
      test("sign-up", async () => {
        const Blog = as("Clara");
        const { unmount } = render(<Blog><SignUp idempotencyKey="" /></Blog>);
        await send("Sign up", { username: "C!" });
        await expectErrors({ username: /3 to 30/ }, ["BAD_USER_INPUT"]);
        unmount();

        render(<Blog><SignUp /></Blog>);
        await send("Sign up", { username: "ANNA" });
        await expectErrors({ username: /taken/ });
        await send("Sign up", { username: "Clara" });
        await expectSaved();
      });

      test("post", async () => {
        const Blog = as("Anna");
        render(<Blog><NewPost /></Blog>);
        await send("New post", {}); // untouched fields are missing in the input
        await expectErrors({ title: /./, content: /./ });
        await send("New post", { title: "x".repeat(201), content: " " });
        await expectErrors({ title: /200/, content: /./ });
        await send("New post", { title: "In a form" });
        await expectErrors({ content: /./ });
        await send("New post", { content: "Text." });
        await expectSaved();
      });

      test("comment", async () => {
        const Blog = as("Anna");
        const { unmount } = render(<Blog><NewComment postId="not an id" /></Blog>);
        await send("New comment", { content: " " });
        await expectErrors({ content: /./ }, ["BAD_USER_INPUT"]);
        unmount();

        render(<Blog><NewComment postId={posts[0]!} /></Blog>);
        await send("New comment", { content: "x".repeat(10_001) });
        await expectErrors({ content: /10,?000/ });
        await send("New comment", { content: "Well said." });
        await expectSaved();
      });

      test("an edit of a post that others edited or deleted", async () => {
        const Blog = as("Anna");
        const [id] = await createPosts(api, "Anna", ["Edited twice"]);
        render(<Blog><EditPost id={id!} version={1} /></Blog>);
        await api.ask(`mutation ($id: ID!) { updatePost(input: { id: $id, title: "Other" }) { post { id } } }`, { id }, "Anna");
        await send("Edit post", { title: "Mine" });
        await expectErrors({}, ["CONFLICT"]);
        await api.ask("mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }", { id }, "Anna");
        await send("Edit post", {});
        await expectErrors({}, ["NOT_FOUND"]);
      });

      test("an account without a user", async () => {
        const Blog = as("Nobody");
        render(<Blog><NewPost /></Blog>);
        await send("New post", { title: "Title", content: "Text." });
        await expectErrors({}, ["USER_REQUIRED"]);
      });
    });

    for (const [what, bad] of [["expired", () => api.expiredToken("Anna")], ["invalid", () => "nonsense"]] as const) {
      test(`a token that is ${what} is replaced`, async () => {
        const exchanges: Exchange[] = [];
        let token = bad();
        const Blog = connect({
          url: api.url,
          fetch: record(exchanges),
          token: () => token,
          renew: async () => void (token = api.token("Anna")),
        });
        render(<Blog><Feed first={100} /></Blog>);
        await feed();
        assert.deepEqual(exchanges.map(({ status }) => status), [401, 200]);
        assert.deepEqual(codes(exchanges[0]!), ["UNAUTHENTICATED"]);
        assert.ok(document.querySelectorAll("[data-is-own=true]").length > 0);
      });
    }

    test("a lost answer is requested again", async () => {
      const exchanges: Exchange[] = [];
      const Blog = as("Anna", record(exchanges, 1));
      render(<Blog><NewPost idempotencyKey={`lost-${library.name}`} /></Blog>);
      await send("New post", { title: "Once", content: "Text." });
      await expectSaved();
      assert.equal(exchanges.length, 2);
      const [lost, received] = exchanges.map(({ answer }) => answer.data.createPost.post.id);
      assert.equal(received, lost);
    });
  });

  describe(`${library.name}, with a deleted author`, () => {
    watchConsole();

    test("their posts are shown until the projector has removed them", async () => {
      const data = newFolder();
      const projecting = await serve(data);
      for (const name of ["Anna", "Ben"]) await createUser(projecting, name);
      await createPosts(projecting, "Anna", ["Stays"]);
      await createPosts(projecting, "Ben", ["Goes"]);
      await until("both posts are in the feed", async () => (await feedIds(projecting)).length === 2);
      await projecting.stop();

      const api = await serve(data, ["--projector=false"]);
      await api.ask(`mutation { deleteUser(input: { username: "Ben" }) { user { id } } }`, undefined, "Ben");
      const exchanges: Exchange[] = [];
      const Blog = connect({ url: api.url, fetch: record(exchanges), token: () => api.token("Anna") });
      render(<Blog><Feed first={10} /></Blog>);
      (await feed()).getByText("Goes by Ben of 0 posts, 0 likes");
      (await feed()).getByText("Stays by Anna of 1 posts, 0 likes");
      assert.deepEqual(exchanges.map(codes), [undefined]);
      assert.equal(document.querySelectorAll("[data-is-own=true]").length, 1);
    });
  });

  describe(`${library.name}, with a throttled database`, () => {
    watchConsole();

    test("a query is repeated after retryAfterMs, and a mutation without a key is not", async () => {
      const api = await serveThrottled();
      await createUser(api, "Anna");
      const waitMs = 2100; // longer than the server waits itself
      const exchanges: Exchange[] = [];
      const Blog = connect({ url: api.url, fetch: record(exchanges), token: () => api.token("Anna") });
      api.throttle(1, waitMs);
      const { unmount } = render(<Blog><Feed first={10} /></Blog>);
      await feed();
      unmount();
      assert.deepEqual(exchanges.map(codes), [["THROTTLED"], undefined]);
      const [first, second] = exchanges;
      assert.ok(second!.at - first!.at >= waitMs, `repeated after ${second!.at - first!.at} ms`);

      exchanges.length = 0;
      api.throttle(1, waitMs);
      render(<Blog><NewPost /></Blog>);
      await send("New post", { title: "Title", content: "Text." });
      await expectErrors({}, ["THROTTLED"]);
      assert.equal(exchanges.length, 1);
      await api.stop();
    });
  });
}

// persistedScenario tests a library with automatic persisted queries.
export function persistedScenario({ name, connect, Feed }: Library) {
  const hashOf = ({ body }: Exchange) => body.extensions?.persistedQuery?.sha256Hash;

  describe(`${name}, with automatic persisted queries`, () => {
    watchConsole();

    const load = async (api: Api) => {
      const exchanges: Exchange[] = [];
      const Blog = connect({ url: api.url, fetch: record(exchanges), isPersisted: true });
      const { unmount } = render(<Blog><Feed first={10} /></Blog>);
      await feed();
      unmount();
      return exchanges;
    };

    test("development keeps the query", async () => {
      const api = await serve(newFolder());
      const exchanges = [...(await load(api)), ...(await load(api))];
      assert.deepEqual(exchanges.map(codes), [["PERSISTED_QUERY_NOT_FOUND"], undefined, undefined]);
      assert.deepEqual(exchanges.map(({ body }) => body.query !== undefined), [false, true, false]);
      assert.equal(new Set(exchanges.map(hashOf)).size, 1);
      assert.match(hashOf(exchanges[0]!), /^[0-9a-f]{64}$/);
    });

    test("production refuses the hash, and answers the query", async () => {
      const api = await serve(newFolder(), ["--production"]);
      const exchanges = await load(api);
      assert.deepEqual(exchanges.map(codes), [["PERSISTED_QUERY_NOT_SUPPORTED"], undefined]);
      assert.deepEqual(exchanges.map(({ body }) => body.query !== undefined), [false, true]);
      assert.equal(hashOf(exchanges[1]!), undefined);
    });
  });
}
