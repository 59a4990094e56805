import { transformAsync } from "@babel/core";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

// The page's server forwards requests to the API. So both have one origin, as in production.
const target = process.env.API ?? "http://127.0.0.1:8080";
const forward = { target, changeOrigin: false }; // by default, Vite replaces Host, and the API refuses that
const proxy = { "/graphql": { ...forward, ws: true }, "/development/token": forward };

// documents replaces the tagged documents by what relay-compiler has generated.
const documents: Plugin = {
  name: "documents",
  transform: {
    filter: { id: /\.tsx?$/, code: "graphql`" },
    async handler(code, filename) {
      const result = await transformAsync(code, { filename, plugins: ["relay"], sourceMaps: true });
      return { code: result!.code!, map: result!.map };
    },
  },
};

export default defineConfig({
  plugins: [documents, react()],
  server: { proxy },
  preview: { proxy },
  build: { chunkSizeWarningLimit: 1000 }, // in kB: React and Relay are large
});
