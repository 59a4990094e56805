// The places where the libraries run: Node.js, and pages in Chromium.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { WebSocket } from "ws";
import { libraries, type LibraryName } from "./libraries";
import type { Connection, Post, Sink, Subscription, Variables } from "./library";

// RemoteClient is a client somewhere.
export interface RemoteClient {
  read(id: string): Promise<string>;
  shown(id: string): Promise<Post | undefined>;
  subscribe(name: Subscription, variables: Variables, sink: Sink): Promise<() => Promise<void>>;
}

export interface Place {
  name: string;
  origin?: string; // of pages
  libraries: LibraryName[];
  open(library: LibraryName, connection: Connection): Promise<RemoteClient>;
  // complaints are what libraries have written to the console.
  complaints: string[];
  close(): Promise<void>;
}

export function node(): Place {
  const complaints: string[] = [];
  const { warn, error } = console;
  Object.assign(globalThis, { WebSocket }); // Node.js has one since version 22
  console.warn = console.error = (...texts) => complaints.push(texts.join(" "));
  return {
    name: "Node.js",
    libraries: (Object.keys(libraries) as LibraryName[]).filter((name) => name !== "EventSource"), // Node.js has none
    async open(library, connection) {
      const client = libraries[library](connection);
      return {
        read: client.read,
        shown: async (id) => client.shown(id),
        async subscribe(name, variables, sink) {
          const end = client.subscribe(name, variables, sink);
          return async () => end();
        },
      };
    },
    complaints,
    close: async () => void Object.assign(console, { warn, error }),
  };
}

export async function pages(): Promise<Place> {
  const script = readFileSync("generated/live/page.js");
  const server = createServer(({ url }, response) => {
    if (url === "/page.js") response.setHeader("Content-Type", "text/javascript").end(script);
    else response.setHeader("Content-Type", "text/html").end('<!doctype html><link rel="icon" href="data:,"><script src="/page.js"></script>');
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  const complaints: string[] = [];
  return {
    name: "Chromium",
    origin,
    libraries: Object.keys(libraries) as LibraryName[],
    async open(library, { url, token, closed }) {
      // A browser opens six connections to a server in a context. Event streams need one each.
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(`${library}: ${error.stack}`));
      page.on("console", (message) => {
        // Chromium itself complains of failed connections.
        const isOfConnection = /WebSocket connection to|Failed to load resource|blocked by CORS/.test(message.text());
        if (["warning", "error"].includes(message.type()) && !isOfConnection) complaints.push(`${library}: ${message.text()}`);
      });
      const sinks: Sink[] = [];
      await page.exposeFunction("newToken", token);
      await page.exposeFunction("tellClosed", closed);
      await page.exposeFunction("tell", (number: number, kind: keyof Sink, value: any) => sinks[number]![kind](value));
      await page.goto(origin);
      await page.evaluate(([library, url]) => connect(library, url), [library, url] as const);
      return {
        read: (id) => page.evaluate((id) => read(id), id),
        shown: (id) => page.evaluate((id) => shown(id), id),
        async subscribe(name, variables, sink) {
          const number = sinks.push(sink) - 1;
          await page.evaluate(([number, name, variables]) => subscribe(number, name, variables), [number, name, variables] as const);
          return () => page.evaluate((number) => unsubscribe(number), number);
        },
      };
    },
    complaints,
    async close() {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
