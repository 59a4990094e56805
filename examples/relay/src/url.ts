// url is the address of the API. By default, the page's own server forwards requests (vite.config.ts).
export const url = new URL(import.meta.env.VITE_API ?? "/graphql", location.href).href;
