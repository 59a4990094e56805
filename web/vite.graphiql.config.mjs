import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { build, server } from './vite.shared.mjs';

// withoutFonts drops the fonts that GraphiQL's style sheet holds as data URLs, 390 kB. The system's
// fonts replace them. The editor's icons are a font too, in a file, which stays.
const withoutFonts = {
  name: 'without-fonts',
  enforce: 'pre',
  transform(code, id) {
    if (/[\\/]graphiql[\\/].*\.css$/.test(id)) return code.replace(/@font-face\s*\{[^}]*data:[^}]*\}/g, '');
  },
};

// Vite's list of licenses leaves out the packages in workers, and the code of other projects that
// packages contain. notices writes them to a second file.
const inWorkers = new Set();
const collectWorkers = {
  name: 'collect-workers',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => chunk.moduleIds ?? []);
    for (const id of modules) {
      const folder = id.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0];
      if (folder) inWorkers.add(folder);
    }
  },
};
const notices = {
  name: 'notices',
  generateBundle() {
    const contained = ['monaco-editor/ThirdPartyNotices.txt', 'prettier/THIRD-PARTY-NOTICES.md'];
    const licenses = [...inWorkers].sort().map((folder) => {
      const file = ['LICENSE', 'LICENSE.md', 'License.txt'].map((name) => `${folder}/${name}`).find(existsSync);
      if (!file) throw new Error(`${folder} has no license`);
      return file;
    });
    const files = [...licenses, ...contained.map((name) => `${import.meta.dirname}/node_modules/${name}`)];
    const source = files
      .map((file) => `== ${file.replace(/^.*node_modules\//, '')}\n\n${readFileSync(file, 'utf8').trim()}\n`)
      .join('\n');
    this.emitFile({ type: 'asset', fileName: 'notices.txt', source });
  },
};

// GraphiQL itself is a file of its own. The names of files contain hashes, so a change of our sources
// would otherwise give the editor's large files other names, and git a second copy of them.
const shared = build('graphiql');
shared.rolldownOptions.output = {
  codeSplitting: {
    groups: [{ name: 'vendor', test: /preload-helper|node_modules[\\/](?!monaco-|prettier|graphql-language-service|graphql-ws)/ }],
  },
};

export default defineConfig({
  root: 'graphiql',
  base: '/playground/',
  build: shared,
  worker: { format: 'es', plugins: () => [collectWorkers] },
  plugins: [withoutFonts, notices],
  server,
});
