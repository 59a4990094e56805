// Tests the pages of examples/ in Chromium, each against a server of its own: pages of the feed, sign-in,
// a like, comments, live posts and comments, errors, and a server that is killed and started again.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { chromium, type Page } from "playwright-core";
import { newFolder, serve, until, type Api } from "../program";
import { Balancer } from "../live/balancer";
import { startIssuer } from "./issuer";
import { startSite } from "./site";

const folders = process.env.EXAMPLES!.split(" ");
const pathOf = (name: string) => new URL(`../../../../../examples/${name}`, import.meta.url).pathname;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
after(() => browser.close());

// open opens a page for somebody new. complaints are what it has written to its console.
async function open(url: string) {
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 700 } })).newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  page.on("console", (message) => {
    // Chromium itself complains of failed connections.
    const isOfConnection = /WebSocket connection to|Failed to load resource/.test(message.text());
    if (["warning", "error"].includes(message.type()) && !isOfConnection) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

const posts = (page: Page) => page.getByRole("article");
const comments = (page: Page) => page.getByRole("region", { name: "Comments" });
const liked = (page: Page) => posts(page).first().getByRole("button", { name: "♥" });

async function expectText(what: () => Promise<string>, wanted: string | RegExp) {
  let text = "";
  const isWanted = async () => {
    text = await what();
    return typeof wanted === "string" ? text === wanted : wanted.test(text);
  };
  await until(`${wanted}`, isWanted).catch(() => assert.fail(`${JSON.stringify(text)} is not ${wanted}`));
}

const publish = (api: Api, title: string) =>
  api
    .ask("mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }", { input: { title, content: "Text." } }, "ben")
    .then(({ createPost }) => createPost.post.id as string);

const comment = (api: Api, postId: string, content: string) =>
  api.ask("mutation ($input: CreateCommentInput!) { createComment(input: $input) { comment { id } } }", { input: { postId, content } }, "ben");

async function newBlog(data: string): Promise<Api> {
  const api = await serve(data);
  await api.ask(`mutation { createUser(input: { username: "ben" }) { user { id } } }`, undefined, "ben");
  for (let i = 1; i <= 12; i++) await publish(api, `Post ${i}`);
  await until("the feed has the posts", async () => (await api.ask("{ feed { nodes { id } } }")).feed.nodes.length === 12);
  return api;
}

for (const name of folders) {
  describe(`examples/${name}`, async () => {
    const data = newFolder();
    const balancer = new Balancer();
    after(() => balancer.close());
    let api = await newBlog(data);
    await balancer.to(api.url);
    const site = await startSite(pathOf(name), new URL(balancer.url).origin);
    const { page, complaints } = await open(site.url);

    test("a stranger reads the feed in pages", async () => {
      await posts(page).nth(9).waitFor();
      assert.equal(await posts(page).count(), 10);
      assert.match(await posts(page).first().innerText(), /^Post 12\n\nText\./);
      await page.getByRole("button", { name: "More" }).click();
      await posts(page).nth(11).waitFor();
      assert.equal(await posts(page).count(), 12);
      assert.equal(await page.getByRole("button", { name: "More" }).count(), 0);
      assert.ok(await liked(page).isDisabled());
    });

    test("a failure is told, and can be repeated", async () => {
      const fail = (data: object, path: string[]) =>
        page.route("**/graphql", (route) => route.fulfill({ json: { data, errors: [{ message: "Broken.", path, extensions: { code: "INTERNAL" } }] } }));
      await page.route("**/graphql", (route) => route.fulfill({ status: 502 }), { times: 2 }); // as of a proxy
      await page.reload();
      await posts(page).nth(9).waitFor();
      await fail({ viewer: null, feed: null }, ["feed"]);
      await page.reload();
      await expectText(() => page.getByRole("alert").innerText(), "Broken.");
      await page.unroute("**/graphql");
      await page.reload();
      await posts(page).nth(9).waitFor();
      await fail({ viewer: null, feed: null }, ["feed"]);
      await page.getByRole("button", { name: "More" }).click();
      await expectText(() => page.getByRole("alert").innerText(), "Broken.");
      assert.equal(await posts(page).count(), 10);
      await page.unroute("**/graphql");
      await page.getByRole("button", { name: "More" }).click();
      await posts(page).nth(11).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
    });

    test("a server that is away is told", async () => {
      const away = (path: string) => page.route(path, (route) => route.fulfill({ status: 502, body: "" })); // as a proxy
      await away("**/graphql");
      await page.reload();
      await expectText(() => page.getByRole("alert").innerText(), "The API cannot be reached (status 502).");
      await page.unroute("**/graphql");
      await page.reload();
      await posts(page).first().waitFor();
      await away("**/development/token");
      await page.getByLabel("Name").fill("anna");
      await page.getByRole("button", { name: "Sign in" }).click();
      await expectText(() => page.getByRole("alert").innerText(), "The API cannot be reached (status 502).");
      await page.unroute("**/development/token");
    });

    test("anna signs in, and joins", async () => {
      await page.getByLabel("Name").fill("anna");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("Signed in as anna").waitFor();
      await page.getByLabel("Your username").fill("a!");
      await page.getByRole("button", { name: "Join" }).click();
      await expectText(() => page.getByRole("alert").innerText(), /3 to 30/);
      assert.equal(await page.getByLabel("Your username").inputValue(), "a!");
      await page.getByLabel("Your username").fill("anna");
      await page.getByRole("button", { name: "Join" }).click();
      await page.getByLabel("Your username").waitFor({ state: "detached" });
      assert.equal(await page.getByRole("alert").count(), 0);
    });

    test("a like counts, and is taken back", async () => {
      await liked(page).click();
      await expectText(() => liked(page).innerText(), "♥ 1");
      assert.equal(await liked(page).getAttribute("aria-pressed"), "true");
      await page.reload();
      await expectText(() => liked(page).innerText(), "♥ 1"); // one's own writes are seen
      await liked(page).click();
      await expectText(() => liked(page).innerText(), "♥ 0");
    });

    test("comments appear live", async () => {
      const [{ id }] = (await api.ask("{ feed(first: 1) { nodes { id } } }")).feed.nodes;
      await comment(api, id, "An old one");
      await page.getByRole("button", { name: "Post 12" }).click();
      await comments(page).getByText("ben An old one").waitFor();
      await comment(api, id, "A new one");
      await expectText(() => comments(page).locator("p").allInnerTexts().then(String), "ben A new one,ben An old one");
      await expectText(() => posts(page).first().innerText(), /2 comments/);

      await comments(page).getByLabel("Your comment").fill(" ");
      await comments(page).getByRole("button", { name: "Send" }).click();
      await expectText(() => comments(page).getByRole("alert").innerText(), /white space/);
      assert.equal(await comments(page).getByLabel("Your comment").inputValue(), " ");
      await comments(page).getByLabel("Your comment").fill("Well said");
      await comments(page).getByRole("button", { name: "Send" }).click();
      await comments(page).getByText("anna Well said").waitFor();
      assert.equal(await comments(page).getByLabel("Your comment").inputValue(), "");
      await comment(api, id, "Thanks");
      await expectText(
        () => comments(page).locator("p").allInnerTexts().then(String),
        "ben Thanks,anna Well said,ben A new one,ben An old one",
      );
      await expectText(() => posts(page).first().innerText(), /4 comments/);
    });

    test("new posts appear live, once", async () => {
      await publish(api, "News");
      await expectText(() => posts(page).first().innerText(), /^News\n/);
      await page.getByRole("button", { name: "More" }).click();
      await posts(page).nth(12).waitFor();
      assert.equal(new Set(await posts(page).locator("h2").allInnerTexts()).size, 13);
      assert.equal(await posts(page).count(), 13);
    });

    test("a subscription that the server refuses for a while begins again", async () => {
      const other = await (await browser.newContext()).newPage();
      let refusals = 0;
      await other.routeWebSocket(/graphql/, (socket) => {
        const server = socket.connectToServer();
        socket.onMessage((message) => {
          const { id, type } = JSON.parse(String(message));
          if (type !== "subscribe" || refusals === 1) return server.send(message);
          refusals++;
          const payload = [{ message: "Later.", extensions: { code: "BUDGET_EXCEEDED", retryAfterMs: 1000 } }];
          socket.send(JSON.stringify({ id, type: "error", payload }));
        });
      });
      await other.goto(site.url);
      await posts(other).nth(9).waitFor();
      await publish(api, "After a refusal");
      await expectText(() => posts(other).first().innerText(), /^After a refusal\n/);
      assert.equal(refusals, 1);
      await other.close();
    });

    test("a page goes on after the server was killed", async () => {
      await api.kill();
      await balancer.to("503");
      api = await serve(data);
      const [{ id }] = (await api.ask("{ feed(first: 3) { nodes { id } } }")).feed.nodes.slice(2);
      await comment(api, id, "Meanwhile");
      await publish(api, "Later");
      await balancer.to(api.url);
      await comments(page).getByText("ben Meanwhile").waitFor({ timeout: 60_000 });
      await expectText(() => posts(page).first().innerText(), /^Later\n/);
      await liked(page).click();
      await expectText(() => liked(page).innerText(), "♥ 1");
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
    });

    test("a page tells if it has missed posts", async () => {
      await balancer.to("503");
      balancer.drop();
      for (let i = 0; i < 240; i++) await publish(api, `Flood ${i}`);
      await until("the feed has the posts", async () => (await api.ask("{ feed(first: 1) { nodes { title } } }")).feed.nodes[0].title === "Flood 239");
      await balancer.to(api.url);
      await page.getByRole("button", { name: "Show the feed again" }).click({ timeout: 60_000 });
      await expectText(() => posts(page).first().innerText(), /^Flood 239\n/);
      assert.equal(await posts(page).count(), 10);
      assert.equal(await page.getByRole("status").count(), 0);
      const id = (await api.ask("{ feed(first: 1) { nodes { id } } }")).feed.nodes[0].id;
      await api.ask("mutation ($id: ID!) { likePost(input: { postId: $id }) { like { id } } }", { id }, "anna");
    });

    test("a token that has expired is replaced", async () => {
      const expired = JSON.stringify({ name: "anna", token: api.expiredToken("anna") });
      await page.evaluate((expired) => localStorage.setItem("account", expired), expired);
      await page.reload();
      await expectText(() => liked(page).innerText(), "♥ 1");
      assert.equal(await liked(page).getAttribute("aria-pressed"), "true");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      await posts(page).first().waitFor();
      assert.equal(await liked(page).getAttribute("aria-pressed"), "false");
    });

    test("the page has no complaints", () => assert.deepEqual(complaints, []));
  });
}

const manifests: Record<string, string> = { relay: "src/generated/documents.json" };

for (const name of folders) describe(`examples/${name}, in production`, async () => {
  const issuer = await startIssuer("pages", "blog");
  after(issuer.close);
  const manifest = `${pathOf(name)}/${manifests[name] ?? "src/generated/gql/persisted-documents.json"}`;
  const api = await serve(newFolder(), ["--issuer", issuer.url, "--audience", "blog", "--documents", manifest, "--documents-only"]);
  const { url } = await startSite(pathOf(name), new URL(api.url).origin, {
    VITE_ISSUER: issuer.url,
    VITE_CLIENT_ID: "pages",
    VITE_PERSISTED: "true",
  });

  test("an issuer signs in, and documents are sent by their ids", async () => {
    const { page, complaints } = await open(url);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(`${request.method()} ${decodeURIComponent(request.url())} ${request.postData()}`));
    page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(`socket ${payload}`)));
    await page.reload();
    await page.getByText("There are no posts yet.").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Signed in as olga").waitFor();
    assert.equal(page.url(), url); // without the code
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByLabel("Your username").waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("Signed in as olga").waitFor();
    await page.getByText("There are no posts yet.").waitFor();
    assert.equal(await page.getByLabel("Your username").count(), 0);
    const token = await page.evaluate(() => JSON.parse(localStorage.getItem(Object.keys(localStorage).find((key) => key.startsWith("oidc.user"))!)!).access_token);
    const post = { query: "mutation { createPost(input: { title: \"Live\", content: \"Text.\" }) { post { id } } }" };
    const refused = await fetch(api.url, { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(post) });
    assert.match(await refused.text(), /FORBIDDEN/);
    const own = sent.filter((text) => /graphql|subscribe/.test(text) && !/connection_init/.test(text));
    assert.ok(own.some((text) => /^GET/.test(text)) && own.some((text) => /^POST/.test(text)) && own.some((text) => /^socket .*subscribe/.test(text)), own.join("\n"));
    for (const text of own) assert.doesNotMatch(text, /feed\s*\(|postPublished\s*\(|createUser\s*\(/);

    // Two tabs whose token is rejected get one new token: this issuer accepts a refresh token once.
    const tab = await page.context().newPage();
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((key) => key.startsWith("oidc.user"))!;
      localStorage.setItem(key, localStorage.getItem(key)!.replace(/"access_token":"[^"]*"/, '"access_token":"rejected"'));
    });
    await Promise.all([page.reload(), tab.goto(url)]);
    for (const each of [page, tab]) {
      await each.getByText("There are no posts yet.").waitFor();
      assert.equal(await each.getByLabel("Your username").count(), 0);
    }
    assert.equal(issuer.refreshes(), 1);

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await tab.getByRole("button", { name: "Sign in" }).waitFor(); // the other tab follows
    assert.deepEqual(complaints, []);

    await page.goto(`${url}?error=access_denied&error_description=Denied&state=none`);
    await page.getByRole("alert").waitFor();
  });
});
