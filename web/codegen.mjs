// Generates app/src/gql from ../schema.graphqls and the documents of the application: the types of
// results and variables, the documents' trees, and the manifest of persisted documents. It also
// validates the example operations of GraphiQL.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, parse, validate } from 'graphql';

process.chdir(import.meta.dirname);
const out = 'app/src/gql/';
const sdl = readFileSync('../schema.graphqls', 'utf8');
const schemaAst = buildSchema(sdl);

function read(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.graphql')).sort();
  return names.map((name) => {
    const rawSDL = readFileSync(`${folder}/${name}`, 'utf8');
    return { location: `${folder}/${name}`, rawSDL, document: parse(rawSDL) };
  });
}

for (const { location, document } of read('graphiql/src/examples')) {
  const [error] = validate(schemaAst, document);
  if (error) throw new Error(`${location}: ${error.message}`);
}

// documentMode stays unset: naming its default makes the preset write an empty manifest.
const outputs = await preset.buildGeneratesSection({
  baseOutputDir: out,
  schema: parse(sdl),
  schemaAst,
  documents: read('app/src'),
  documentTransforms: [{ name: 'addTypename', transformObject: addTypenameSelectionDocumentTransform, config: {} }],
  config: { scalars: { DateTime: 'string' }, enumsAsTypes: true, useTypeImports: true },
  presetConfig: {
    fragmentMasking: { unmaskFunctionName: 'read' },
    persistedDocuments: { mode: 'embedHashInDocument', hashAlgorithm: 'sha256' },
  },
  plugins: [],
  pluginMap: {},
});
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
for (const output of outputs) {
  // Components import documents from graphql.ts. The preset also writes the function graphql() and
  // its map of all texts, which would put every document into the program twice.
  if (/\/(gql|index)\.ts$/.test(output.filename)) continue;
  writeFileSync(output.filename, await codegen(output));
}
