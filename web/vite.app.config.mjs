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
    ],
  },
  plugins: [fontLicense],
  server,
});
