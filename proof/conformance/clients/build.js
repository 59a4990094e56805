// Generates the types and artifacts of the documents, checks the types, and bundles the tests to
// generated/*.test.js. The types of Apollo Client and urql are from the schema of a running server,
// those of Relay from generated/schema.graphql.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { transformAsync } from "@babel/core";
import { build } from "esbuild";

const npx = (command, args, env = {}) =>
  execFileSync(`node_modules/.bin/${command}`, args, { stdio: "inherit", env: { ...process.env, ...env } });

// withServer calls use with the origin of a server in development, with an empty data folder.
async function withServer(use) {
  const data = mkdtempSync(join(tmpdir(), "cosmosblog-clients-"));
  const server = spawn(process.env.COSMOSBLOG, ["serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "warn"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  try {
    for await (const line of createInterface(server.stdout)) {
      server.stdout.resume(); // nobody reads the further lines
      const url = line.match(/http:\/\/[0-9.:]+/)?.[0];
      if (url) return use(url);
    }
    throw new Error("the server did not start");
  } finally {
    server.kill("SIGTERM");
    await exited;
    rmSync(data, { recursive: true });
  }
}

// graphql-codegen reads the schema by introspection, and once more as the file that servers with
// --publish-schema also serve. The types must be the same.
const typesOf = (schema) => {
  npx("graphql-codegen", ["--config", "codegen.ts", "--silent"], { SCHEMA_URL: schema });
  return ["graphql.ts", "enums.ts"].map((name) => readFileSync(`generated/gql/${name}`, "utf8")).join();
};
await withServer((origin) => {
  if (typesOf(`${origin}/graphql`) !== typesOf(`${origin}/schema.graphql`)) {
    throw new Error("introspection and /schema.graphql give different types");
  }
});

// The documents of Relay, by its compiler.
mkdirSync("generated/relay", { recursive: true });
npx("relay-compiler", ["--output", "quiet-with-errors"]);

npx("tsc", []);

// relayTags replaces each tagged document by an import of its artifact.
const relayTags = {
  name: "relay-tags",
  setup({ onLoad }) {
    onLoad({ filter: /\/relay(\.test)?\.tsx?$/ }, async ({ path }) => {
      const { code } = await transformAsync(readFileSync(path, "utf8"), {
        filename: path,
        parserOpts: { plugins: ["typescript", "jsx"] },
        plugins: ["relay"],
      });
      return { contents: code, loader: "tsx" };
    });
  },
};
await build({
  entryPoints: ["docs.test.ts", "apollo.test.tsx", "urql.test.tsx", "relay.test.tsx", "live/live.test.ts", "examples/examples.test.ts"],
  outdir: "generated",
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  jsx: "automatic",
  sourcemap: "inline",
  plugins: [relayTags],
});
// The same libraries for a page.
await build({
  entryPoints: ["live/page.ts"],
  outdir: "generated/live",
  bundle: true,
  platform: "browser",
  format: "iife",
  target: "es2022",
  define: { "process.env.NODE_ENV": '"development"' },
  sourcemap: "inline",
  plugins: [relayTags],
});
