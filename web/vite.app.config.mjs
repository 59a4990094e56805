import { defineConfig } from 'vite';
import { build, server } from './vite.shared.mjs';

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
  server,
});
