// Generates the types and artifacts of the documents from generated/schema.graphql, checks the
// types, and bundles the tests to generated/*.test.js.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { transformAsync } from "@babel/core";
import { preset } from "@graphql-codegen/client-preset";
import { codegen } from "@graphql-codegen/core";
import * as typescript from "@graphql-codegen/typescript";
import { build } from "esbuild";
import { buildSchema, parse } from "graphql";

const npx = (command, ...args) => execFileSync(`node_modules/.bin/${command}`, args, { stdio: "inherit" });

// The documents of Apollo Client and urql, by the client preset of graphql-codegen. It generates the
// types that documents use. The codes of errors are in no document and need the plugin typescript.
const sdl = readFileSync("generated/schema.graphql", "utf8");
const rawSDL = readFileSync("documents.graphql", "utf8");
mkdirSync("generated/gql", { recursive: true });
const schema = parse(sdl);
const config = { scalars: { DateTime: "string" }, enumsAsTypes: true, nonOptionalTypename: true };
const outputs = await preset.buildGeneratesSection({
  baseOutputDir: "generated/gql/",
  schema,
  schemaAst: buildSchema(sdl),
  documents: [{ location: "documents.graphql", document: parse(rawSDL), rawSDL }],
  config,
  presetConfig: { fragmentMasking: false },
  plugins: [],
  pluginMap: {},
});
outputs.push({
  filename: "generated/gql/enums.ts",
  schema,
  documents: [],
  config: { ...config, onlyEnums: true },
  plugins: [{ typescript: {} }],
  pluginMap: { typescript },
});
for (const output of outputs) writeFileSync(output.filename, await codegen(output));

// The documents of Relay, by its compiler.
mkdirSync("generated/relay", { recursive: true });
npx("relay-compiler", "--output", "quiet-with-errors");

npx("tsc");

// relayTags replaces each tagged document by an import of its artifact.
const relayTags = {
  name: "relay-tags",
  setup({ onLoad }) {
    onLoad({ filter: /\/relay\.test\.tsx$/ }, async ({ path }) => {
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
  entryPoints: ["apollo.test.tsx", "urql.test.tsx", "relay.test.tsx"],
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
