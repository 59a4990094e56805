// Signs in at an OpenID Connect issuer, by a code with PKCE. The build needs VITE_ISSUER, the issuer's
// address, VITE_CLIENT_ID, the page's id there, and VITE_SCOPE: "openid profile offline_access" and the
// scope of the API. The issuer must allow the page's address as a redirect URI.
import { UserManager, WebStorageStateStore } from "oidc-client-ts";

const manager = new UserManager({
  authority: import.meta.env.VITE_ISSUER,
  client_id: import.meta.env.VITE_CLIENT_ID,
  scope: import.meta.env.VITE_SCOPE ?? "openid",
  redirect_uri: `${location.origin}/`,
  userStore: new WebStorageStateStore({ store: localStorage }), // for all tabs
  automaticSilentRenew: false, // each tab would do it; renew is called instead
});

// fault is why a sign-in has failed before the page was loaded.
export let fault: string | undefined;

// The issuer sends the person back with a code, or with an error.
const answer = new URLSearchParams(location.search);
if (answer.has("state") && (answer.has("code") || answer.has("error"))) {
  await manager.signinCallback().catch((error: Error) => (fault = error.message));
  history.replaceState(null, "", location.pathname);
}
const user = await manager.getUser();

// name is the name of the account, or undefined if nobody is signed in. subject identifies it.
export const name = user?.profile.name ?? user?.profile.sub;
export const subject = user?.profile.sub;

// stored returns what all tabs have. If another tab has signed in somebody else, the page is loaded again.
async function stored() {
  const stored = await manager.getUser();
  if (stored?.profile.sub === subject) return stored;
  location.reload();
  return new Promise<never>(() => {});
}

// token returns the account's token. If the API's audience is the client's id, send id_token instead.
export const token = async () => (await stored())?.access_token;

// renew replaces a token that the server has rejected, unless another tab just has, or the person has
// signed out. Some issuers accept a refresh token only once, so the tabs take turns.
export const renew = (rejected: string | undefined) =>
  navigator.locks.request("account", async () => {
    if ((await stored())?.access_token === rejected) await manager.signinSilent();
  });

// signIn leaves the page, which is loaded again afterwards.
export const signIn = () => manager.signinRedirect();

// signOut signs out of this page. The issuer may still know the person: signoutRedirect ends that, too.
export const signOut = () =>
  navigator.locks.request("account", async () => {
    await manager.removeUser();
    location.reload();
  });

// The other tabs follow.
addEventListener("storage", ({ key }) => void (key?.startsWith("oidc.user:") && stored()));
