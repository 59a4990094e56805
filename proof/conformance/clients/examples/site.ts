// The pages of an example, built and served by Vite.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { after } from "node:test";

export interface Site {
  url: string;
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

// startSite builds the page of a folder, and serves it. The site forwards requests to an API. Variables
// are those of the build.
export async function startSite(folder: string, api: string, variables = {}): Promise<Site> {
  const vite = `${folder}/node_modules/.bin/vite`;
  const out = ["--outDir", `dist/${Object.keys(variables).length}`];
  execFileSync(vite, ["build", "--logLevel", "error", ...out], { cwd: folder, env: { ...process.env, ...variables }, stdio: "inherit" });
  const port = await freePort();
  const child = spawn(vite, ["preview", "--host", "127.0.0.1", "--port", String(port), "--strictPort", ...out], {
    cwd: folder,
    env: { ...process.env, API: api, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = ""; // of the proxy, which complains of lost connections
  child.stderr.on("data", (text) => (log += text));
  const exited = once(child, "exit");
  const close = async () => void (child.kill(), await exited);
  after(close);
  for await (const line of createInterface(child.stdout)) {
    child.stdout.resume();
    if (line.includes(String(port))) return { url: `http://127.0.0.1:${port}/`, close };
  }
  throw new Error(`the site did not start: ${log}`);
}
