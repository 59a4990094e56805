// Starts and stops processes of cosmosblog on free loopback ports, with temporary data folders.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createPrivateKey, sign as signBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import type { GraphQLFormattedError } from "graphql";

const binary = process.env.COSMOSBLOG!;
const emulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
const environment = { HOME: process.env.HOME, PATH: process.env.PATH };

const running = new Set<ChildProcess>();
const folders: string[] = [];

after(async () => {
  await Promise.all([...running].map((process) => stop(process)));
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function stop(process: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  if (!running.delete(process)) return;
  process.kill(signal);
  if (process.exitCode === null) await once(process, "exit");
}

// newFolder returns a new empty folder, which is removed after the tests.
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cosmosblog-clients-"));
  folders.push(folder);
  return folder;
}

interface Process {
  url: string;
  stop(): Promise<void>; // as an operator does
  kill(): Promise<void>;
}

// start runs a command that serves, and returns the origin of the first URL that it prints.
async function start(command: string, args: string[], env = {}): Promise<Process> {
  const child = spawn(binary, [command, "--addr", "127.0.0.1:0", ...args], {
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let log = "";
  child.stderr.on("data", (text) => (log += text));
  const lines = createInterface(child.stdout);
  for await (const line of lines) {
    child.stdout.resume(); // nobody reads the further lines
    const url = line.match(/http:\/\/[0-9.:]+/)?.[0];
    if (url) return { url, stop: () => stop(child), kill: () => stop(child, "SIGKILL") };
  }
  throw new Error(`${command} did not start: ${log}`);
}

// Api is a running server of the API.
export interface Api extends Process {
  // token returns a token of an account, of the server's data folder.
  token(account: string): string;
  // expiredToken returns a token that expired an hour ago.
  expiredToken(account: string): string;
  // shortToken returns a token that expires in two to three seconds.
  shortToken(account: string): string;
  // ask sends a query without a client library. It fails if the answer has errors.
  ask<Data = any>(query: string, variables?: object, account?: string): Promise<Data>;
}

// serve starts a server and waits until it is ready.
export async function serve(data: string, args: string[] = [], env = {}): Promise<Api> {
  const { url: origin, ...process } = await start("serve", ["--data", data, ...args], env);
  const url = `${origin}/graphql`;
  await until("the server is ready", async () => (await fetch(new URL("/readyz", url))).ok);
  const tokens = new Map<string, string>();
  const token = (account: string) => {
    if (!tokens.has(account)) {
      const args = ["token", "--sub", account, "--data", data];
      tokens.set(account, execFileSync(binary, args, { env: environment, encoding: "utf8" }).trim());
    }
    return tokens.get(account)!;
  };
  // sign returns a token of the data folder's key that is valid between two times, in seconds.
  const sign = (account: string, iat: number, exp: number) => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const claims = { iss: "cosmosblog-local", sub: account, iat, exp };
    const signed = `${encode({ alg: "EdDSA", typ: "JWT" })}.${encode(claims)}`;
    const key = createPrivateKey(readFileSync(join(data, "local-key.pem")));
    return `${signed}.${signBytes(null, Buffer.from(signed), key).toString("base64url")}`;
  };
  const hour = 3600;
  const now = () => Math.floor(Date.now() / 1000);
  return {
    url,
    ...process,
    token,
    expiredToken: (account) => sign(account, now() - 2 * hour, now() - hour),
    shortToken: (account) => sign(account, now(), now() + 3),
    async ask<Data>(query: string, variables?: object, account?: string): Promise<Data> {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          ...(account && { Authorization: `Bearer ${token(account)}` }),
        },
        body: JSON.stringify({ query, variables }),
      });
      const answer = (await response.json()) as { data?: Data; errors?: GraphQLFormattedError[] };
      if (answer.errors) throw new Error(JSON.stringify(answer.errors));
      return answer.data!;
    },
  };
}

// until waits for a condition, for at most 30 s.
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`after 30 s, still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// ThrottledApi is a server whose database can reject requests.
export interface ThrottledApi extends Api {
  // throttle rejects the next n requests to the database with 429, which asks for a wait.
  throttle(n: number, waitMs: number): void;
}

// serveThrottled starts an engine, a proxy that can throttle its data, and a server on the proxy.
export async function serveThrottled(): Promise<ThrottledApi> {
  const engine = await start("engine", ["--data", newFolder()]);
  const env = { COSMOS_KEY: emulatorKey };
  execFileSync(binary, ["provision", "--endpoint", engine.url], { env: { ...environment, ...env } });

  let rejected = { n: 0, waitMs: 0 };
  const proxy = createServer((request, response) => {
    if (rejected.n > 0 && request.url!.includes("/docs")) {
      rejected.n--;
      request.resume();
      response.writeHead(429, { "x-ms-retry-after-ms": rejected.waitMs, "x-ms-substatus": 3200 }).end("{}");
      return;
    }
    const { method, headers } = request;
    const forwarded = httpRequest(new URL(request.url!, engine.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  // Without a projector and a cache, the server sends no requests of its own that could be throttled instead.
  const options = ["--projector=false", "--cache-staleness=0s", "--endpoint", `http://127.0.0.1:${port}`];
  const api = await serve(newFolder(), options, env);
  return {
    ...api,
    async stop() {
      await api.stop();
      proxy.closeAllConnections();
      proxy.close();
      await engine.stop();
    },
    throttle: (n, waitMs) => (rejected = { n, waitMs }),
  };
}
