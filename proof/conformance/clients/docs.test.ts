// Runs the snippets of docs/clients.md and examples/README.md. Those in GraphQL are parts of programs
// that other tests run, and those for a shell run here. examples/run tests the examples.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { newFolder, serve } from "./program";

const repository = resolve("../../..");
const read = (...path: string[]) => readFileSync(join(repository, ...path), "utf8");
const documents = read("docs/clients.md") + read("examples/README.md");
const snippets = (language: string) =>
  [...documents.matchAll(new RegExp(`^\`\`\`(?:${language})\n(.*?)^\`\`\``, "gms"))].map(([, text]) => text!);
const withoutIndentation = (text: string) => text.replace(/^ +/gm, "");

const here = "proof/conformance/clients";
const pages = ["apollo", "relay", "urql"].flatMap((name) => [`examples/${name}`, `examples/${name}/src`]);
const sources = [...pages, "examples/go-client/documents", here, `${here}/live`].flatMap((folder) =>
  readdirSync(join(repository, folder))
    .filter((name) => /\.(tsx?|graphql|json)$/.test(name))
    .map((name) => `${folder}/${name}`),
);

test("the snippets in GraphQL, TypeScript and JSON are parts of programs", () => {
  const programs = sources.map((name) => withoutIndentation(read(name)));
  const found = snippets("ts|graphql|json");
  assert.ok(found.length > 0);
  for (const snippet of found) assert.ok(programs.some((program) => program.includes(withoutIndentation(snippet))), snippet);
});

test("the commands run", async () => {
  const folder = newFolder();
  const manifest = join(folder, "documents.json");
  writeFileSync(manifest, JSON.stringify({ newest: "{ feed(first: 3) { nodes { title } } }" }));
  const data = newFolder();
  const api = await serve(data, ["--documents", manifest]);
  const origin = new URL(api.url).origin;
  await api.ask(`mutation { createUser(input: { username: "ben" }) { user { id } } }`, undefined, "ben");
  const { createPost } = await api.ask(`mutation { createPost(input: { title: "First", content: "Text." }) { post { id } } }`, undefined, "ben");

  mkdirSync(join(folder, "bin"));
  const program = `#!/usr/bin/env bash\nif [ "$1" = token ]; then set -- "$@" --data ${data}; fi\nexec ${process.env.COSMOSBLOG} "$@"\n`;
  writeFileSync(join(folder, "bin/cosmosblog"), program, { mode: 0o755 });
  mkdirSync(join(folder, "repository"));
  symlinkSync(join(repository, "examples"), join(folder, "repository/examples"));
  const run = (text: string) => {
    const replaced = text.replaceAll(/http:\/\/127.0.0.1:8080|https:\/\/api.example.com/g, origin);
    const script = `set -euo pipefail
cd repository
export API=${origin} POST=${createPost.post.id} EXAMPLES=${join(repository, "examples")} PATH=${folder}/bin:$PATH
curl() { command curl --max-time 3 "$@" || [ $? = 28 ]; } # a stream does not end
${replaced}`;
    return execFileSync("bash", ["-c", script], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  };

  // What the snippets about requests print.
  const commands = snippets("sh");
  const requests = commands.filter((text) => /curl -/.test(text) && !/npm|go mod/.test(text));
  const printed = run(requests.join(""));
  assert.doesNotMatch(printed, /"errors"/);
  for (const wanted of [/"title":"Hello"/, /"documentId"|"nodes":\[{"title"/, /event: next\n.*\n?data: .*"likeCount":0/s, /"feed":{"nodes":\[{"title":"Hello"}/]) {
    assert.match(printed, wanted);
  }

  const others = commands.filter((text) => !requests.includes(text));
  const only = (wanted: RegExp) => {
    const found = others.filter((text) => wanted.test(text));
    assert.equal(found.length, 1, `${wanted}`);
    return others.splice(others.indexOf(found[0]!), 1)[0]!;
  };
  run(only(/cp -R examples\/apollo/).replace("npm run dev", "npm run build").replace("npm install", "npm install --no-audit --no-fund --loglevel=error"));
  run(`${only(/go mod init/)}printf 'package main\\nfunc main() { println(describe(newBlog("", "").live(nil, ""))) }\\n' > main.go && go vet .`);

  // The blog's pages for another server.
  const web = join(repository, "web");
  if (!existsSync(join(web, "node_modules"))) {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: web });
  }
  run(only(/BLOG_PAGE/).replace("cd web && npm ci", `cd ${web}`).replace("../../blog", join(folder, "blog")));
  assert.ok(readFileSync(join(folder, "blog/index.html"), "utf8").includes(`{"api":"${origin}","issuer":{`));
  assert.deepEqual(others, []);
});
