// Starts and stops servers on free loopback ports, with temporary data folders, and writes to them.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";

const binary = process.env.COSMOSBLOG;
const env = { HOME: process.env.HOME, PATH: process.env.PATH };
const running = new Set();
const folders = [];

after(async () => {
  await Promise.all([...running].map((child) => end(child, "SIGTERM")));
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function end(child, signal) {
  if (!running.delete(child)) return;
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// until waits for a condition, for at most 30 s.
export async function until(what, condition) {
  for (let tries = 0; !(await Promise.resolve().then(condition).catch(() => false)); tries++) {
    if (tries === 600) throw new Error(`after 30 s, still not: ${what}`);
    await sleep(50);
  }
}

// newFolder returns a folder that is removed after the tests.
export function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), "cosmosblog-streams-"));
  folders.push(folder);
  return folder;
}

// serve starts a development server, and waits until it is ready. It is at another address again if
// that is given.
export async function serve(data, args = [], addr = "127.0.0.1:0") {
  const child = spawn(binary, ["serve", "--addr", addr, "--data", data, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let log = "";
  child.stderr.on("data", (text) => (log += text));
  let origin;
  for await (const line of createInterface(child.stdout)) {
    if ((origin = line.match(/http:\/\/[0-9.:]+/)?.[0])) break;
  }
  if (!origin) throw new Error(`the server did not start: ${log}`);
  child.stdout.resume();
  await until("the server is ready", async () => (await fetch(`${origin}/readyz`)).ok);
  const url = `${origin}/graphql`;
  const tokens = new Map();
  const token = (account) => {
    if (!tokens.has(account)) tokens.set(account, execFileSync(binary, ["token", "--sub", account, "--data", data], { env, encoding: "utf8" }).trim());
    return tokens.get(account);
  };
  const ask = async (query, variables, account = "anna") => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token(account)}` };
    const { data: answer, errors } = await (await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
    if (errors) throw new Error(JSON.stringify(errors));
    return answer;
  };
  return {
    url,
    socket: url.replace("http", "ws"),
    addr: new URL(url).host,
    token,
    ask,
    join: (name = "anna") => ask("mutation ($i: CreateUserInput!) { createUser(input: $i) { user { id } } }", { i: { username: name } }, name),
    post: async (title = "Title") =>
      (await ask("mutation ($i: CreatePostInput!) { createPost(input: $i) { post { id } } }", { i: { title, content: "Text." } })).createPost.post.id,
    comment: (postId, content) => ask("mutation ($i: CreateCommentInput!) { createComment(input: $i) { comment { id } } }", { i: { postId, content } }),
    remove: (id) => ask("mutation ($i: DeletePostInput!) { deletePost(input: $i) { post { id } } }", { i: { id } }),
    stop: () => end(child, "SIGTERM"),
    kill: () => end(child, "SIGKILL"),
  };
}

// Received is what a client is told of a subscription.
export class Received {
  results = [];
  errors = [];
  completed = 0;
  next = (result) => void this.results.push(result);
  error = (error) => void this.errors.push(error);
  complete = () => void this.completed++;
  get contents() {
    return this.results.map(({ data }) => data.commentAdded.node.content);
  }
}

export const changed = "subscription ($p: ID!) { postChanged(id: $p) { title commentCount } }";
export const added = "subscription ($p: ID!, $a: String) { commentAdded(postId: $p, after: $a) { node { content } } }";
