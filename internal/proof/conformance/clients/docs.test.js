// The snippets of docs/clients.md are parts of the programs that the tests run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const withoutIndentation = (text) => text.replace(/^ +/gm, "");
const document = readFileSync("../../../../docs/clients.md", "utf8");
const files = ["codegen.ts", "apollo.test.tsx", "urql.test.tsx", "relay.test.tsx", "scenario.tsx"];
const live = ["apollo.ts", "eventSource.ts", "graphqlSse.ts", "graphqlWs.ts", "relay.ts", "resumed.ts", "urql.ts"];
const goClient = "../../../../examples/go-client/documents/feed.graphql";
const programs = [...files, "documents.graphql", goClient, ...live.map((name) => `live/${name}`)].map((name) => withoutIndentation(readFileSync(name, "utf8")));

test("the snippets of docs/clients.md are tested", () => {
  const snippets = [...document.matchAll(/^```(?:ts|graphql)\n(.*?)^```/gms)].map(([, text]) => withoutIndentation(text));
  assert.ok(snippets.length >= programs.length);
  for (const snippet of snippets) assert.ok(programs.some((program) => program.includes(snippet)), snippet);
});
