import { readdirSync } from 'node:fs';
import { defineConfig } from 'vite';
import app from '../vite.app.config.mjs';

// The tests with the code that they test, bundled for Node.js as the blog is for browsers.
export default defineConfig({
  root: import.meta.dirname,
  resolve: app.resolve,
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node20',
    emptyOutDir: true,
    rolldownOptions: {
      input: readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.mjs')),
      output: { entryFileNames: '[name].mjs' },
    },
  },
});
