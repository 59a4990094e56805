// build returns the settings that both builds share. Files are never inlined, because the
// Content-Security-Policy allows no data URLs, and there are no source maps. output has Rolldown's options
// of the files that are written.
export const build = (name, output = {}) => ({
  outDir: `../dist/${name}`,
  emptyOutDir: true,
  target: 'es2022',
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
  chunkSizeWarningLimit: 4000,
  license: { fileName: 'licenses.md' },
  rolldownOptions: {
    output,
    // Libraries mark modules for servers that render React. Nothing renders on a server here.
    onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
  },
});

// server is the development server, which forwards the API's paths to `go run .`.
export const server = {
  proxy: Object.fromEntries(
    ['/graphql', '/development'].map((path) => [path, { target: 'http://127.0.0.1:8080', ws: true }]),
  ),
};
