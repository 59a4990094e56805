// Signs in at an OpenID Connect issuer, by a code with PKCE. The page needs VITE_ISSUER, the issuer's
// address, VITE_CLIENT_ID, the page's id there, and VITE_SCOPE, such as "openid offline_access" and the
// scope of the API. The page's address must be allowed there as a redirect URI.
import { UserManager, WebStorageStateStore } from "oidc-client-ts";

const manager = new UserManager({
  authority: import.meta.env.VITE_ISSUER,
  client_id: import.meta.env.VITE_CLIENT_ID,
  scope: import.meta.env.VITE_SCOPE ?? "openid",
  redirect_uri: `${location.origin}/`,
  userStore: new WebStorageStateStore({ store: localStorage }), // for all tabs
});

// The issuer sends the person back with a code, or with an error.
const answer = new URLSearchParams(location.search);
if (answer.has("state") && (answer.has("code") || answer.has("error"))) {
  await manager.signinCallback().catch((error) => console.error(error));
  history.replaceState(null, "", location.pathname);
}
const user = await manager.getUser();

// name is the name of the account, or undefined if nobody is signed in.
export const name = user?.profile.name ?? user?.profile.sub;

// token returns the account's token. It is renewed before it expires. If the API's audience is the
// client's id, send id_token instead.
export const token = async () => (await manager.getUser())?.access_token;

// renew replaces a token that the server has rejected.
export const renew = async () => void (await manager.signinSilent());

// signIn leaves the page, which is loaded again afterwards.
export const signIn = () => manager.signinRedirect();

export async function signOut() {
  await manager.removeUser();
  location.reload();
}

// The other tabs follow.
addEventListener("storage", ({ key, oldValue, newValue }) => {
  if (key?.startsWith("oidc.user:") && !oldValue !== !newValue) location.reload();
});
