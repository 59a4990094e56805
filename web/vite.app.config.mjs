import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { build, server } from './vite.shared.mjs';

// Vite's list of licenses has those of scripts. The font's goes beside it.
const fontLicense = {
  name: 'font-license',
  generateBundle() {
    const source = readFileSync(`${import.meta.dirname}/node_modules/@fontsource-variable/figtree/LICENSE`, 'utf8');
    this.emitFile({ type: 'asset', fileName: 'font-license.txt', source });
  },
};

const here = (path) => `${import.meta.dirname}/${path}`;

// The blog. Preact replaces React; the types stay React's.
export default defineConfig({
  root: 'app',
  base: '/',
  build: build('app'),
  resolve: {
    alias: [
      { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
      { find: 'react/jsx-dev-runtime', replacement: 'preact/jsx-dev-runtime' },
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: 'react-dom', replacement: 'preact/compat' },
      { find: 'react', replacement: 'preact/compat' },
      // markdown-it would bring a table of two thousand characters, and a search for addresses that it
      // does not use here. They are as large as itself.
      { find: /^entities$/, replacement: here('app/src/text/entities.ts') },
      { find: /^linkify-it$/, replacement: here('app/src/text/linkify.ts') },
    ],
  },
  plugins: [fontLicense],
  server,
});
