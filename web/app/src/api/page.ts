// What the page's HTML says about its server. The server writes it; a build for a server of another
// origin has it from vite.app.config.mjs.
import type { ExecutionResult } from 'graphql';

// Issuer is the OpenID Connect issuer that signs people in. token is the one that the API accepts.
export type Issuer = { url: string; client: string; scope: string; token: 'access_token' | 'id_token' };

// Preloaded is the answer to a query, as somebody who has not signed in would get it.
export type Preloaded = { id: string; variables: object; answer: ExecutionResult };

type Page = {
  api?: string; // the origin of the API, if it is not that of the page
  development?: boolean; // people sign in by name, and the server reports costs and has GraphiQL
  issuer?: Issuer;
  preloaded?: Preloaded[];
};

export const page: Page = JSON.parse(document.getElementById('page')!.textContent!);

// canSignIn is false if the server signs nobody in.
export const canSignIn = Boolean(page.development || page.issuer);
