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

// The page for a server of another origin: BLOG_PAGE has the JSON that this server writes into its pages.
const otherServer = {
  name: 'other-server',
  transformIndexHtml(html) {
    const { BLOG_PAGE } = process.env;
    if (!BLOG_PAGE) return html;
    const settings = JSON.stringify(JSON.parse(BLOG_PAGE)).replaceAll('<', '\\u003c');
    return html
      .replace('{"development":true}', () => settings)
      .replace(/ *<link rel="alternate".*\n/, '') // only the server has a feed
      .replace(/ *<noscript>.*\n/, '    <noscript>This page needs JavaScript.</noscript>\n');
  },
};

const here = (path) => `${import.meta.dirname}/${path}`;

// The blog. Preact replaces React; the types stay React's.
export default defineConfig({
  root: 'app',
  base: '/',
  build: build('app', {
    // What several places share is one file, and not one for each set of places. The figures of the models are
    // loaded with the places that show them.
    codeSplitting: { groups: [{ name: 'shared', minShareCount: 2, test: (id) => !/\/models\./.test(id) }] },
  }),
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
  plugins: [fontLicense, otherServer],
  server,
});
