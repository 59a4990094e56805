// Sign-in at an OpenID Connect issuer, by a code with PKCE. This and its library are loaded when they are
// needed.
import { ErrorResponse, UserManager, WebStorageStateStore, type User } from 'oidc-client-ts';
import * as shared from '../../../shared/session';
import { page } from './page';
import type { Place } from './session';

const { url, client, scope, token } = page.issuer!;
const manager = new UserManager({
  authority: url,
  client_id: client,
  scope,
  redirect_uri: `${location.origin}/sign-in`,
  userStore: new WebStorageStateStore({ store: localStorage }), // for all tabs
  automaticSilentRenew: false, // each tab would renew the token
});

const sessionOf = (user: User): shared.Session => ({ name: user.profile.sub, token: user[token] });

// leave goes to the issuer, which sends the person back to /sign-in. finish then returns the place.
export const leave = (place: Place) => manager.signinRedirect({ state: place });

// finish begins the session of a person whom the issuer has sent back. It fails if the issuer has refused.
export async function finish() {
  const user = await manager.signinRedirectCallback();
  shared.begin(sessionOf(user));
  return user.state as Place;
}

// renew replaces a token that the server has rejected, and returns true. It returns false if the person
// must sign in again, and fails if the issuer does not answer. Some issuers accept a refresh token only once,
// so the tabs take turns.
export const renew = (rejected: string) =>
  navigator.locks.request('cosmosblog.session', async () => {
    const session = shared.reread();
    if (session?.token !== rejected) return Boolean(session?.token); // another tab has renewed it, or ended it
    if (!(await manager.getUser())?.refresh_token) return false;
    try {
      const user = await manager.signinSilent();
      if (user) shared.begin(sessionOf(user));
      return user !== null;
    } catch (error) {
      if (error instanceof ErrorResponse) return false;
      throw error;
    }
  });
