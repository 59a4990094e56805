import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The page's server forwards requests to the API. So both have one origin, as in production.
const target = process.env.API ?? "http://127.0.0.1:8080";
const forward = { target, changeOrigin: false }; // by default, Vite replaces Host, and the API refuses that
const proxy = { "/graphql": { ...forward, ws: true }, "/development/token": forward };

export default defineConfig({ plugins: [react()], server: { proxy }, preview: { proxy } });
