// Sign-in at an OpenID Connect issuer, by a code with PKCE. This and its library are loaded when they are
// needed.
import { ErrorResponse, UserManager, WebStorageStateStore, type User } from 'oidc-client-ts';
import * as shared from '../../../shared/session';
import { page } from './page';

const { url, client, scope, token } = page.issuer!;
const manager = new UserManager({
  authority: url,
  client_id: client,
  scope,
  redirect_uri: `${location.origin}/sign-in`,
  userStore: new WebStorageStateStore({ store: localStorage }), // for all tabs
  automaticSilentRenew: false, // each tab would renew the token
  requestTimeoutInSeconds: 10,
});

const sessionOf = (user: User): shared.Session => ({ name: user.profile.sub, token: user[token] });

// inTurn runs what changes the session at the issuer. Tabs take turns.
const inTurn = <T>(run: () => Promise<T>) => navigator.locks.request('cosmosblog.session', run);

// Place is where a person began to sign in, and whether a like waits there.
export type Place = { path: string; isLiking?: boolean };

// leave goes to the issuer, which sends the person back to /sign-in. finish then returns the place.
export async function leave(place: Place) {
  await manager.clearStaleState(); // of sign-ins that were not finished
  await manager.signinRedirect({ state: place });
}

// finish begins the session of a person whom the issuer has sent back. It fails if the issuer has refused.
export const finish = () =>
  inTurn(async () => {
    const user = await manager.signinRedirectCallback();
    shared.begin(sessionOf(user));
    return user.state as Place;
  });

// The errors with which an issuer says that a person must sign in again. All others may be temporary.
const final = ['invalid_grant', 'invalid_client', 'unauthorized_client', 'interaction_required', 'login_required'];

// renew replaces a token that the server has rejected, and returns true. It returns false if the person
// must sign in again, and fails if the issuer does not answer.
export const renew = (rejected: string) =>
  inTurn(async () => {
    const session = shared.reread();
    if (session?.token !== rejected) return Boolean(session?.token); // another tab has renewed it, or ended it
    if (!(await manager.getUser())?.refresh_token) return false;
    try {
      const user = await manager.signinSilent();
      if (shared.reread()?.token !== rejected) {
        await manager.removeUser(); // the person has signed out meanwhile
        return false;
      }
      if (!user || user[token] === rejected) return false; // some issuers renew no identity tokens
      shared.begin(sessionOf(user));
      return true;
    } catch (error) {
      if (error instanceof ErrorResponse && final.includes(error.error!)) return false;
      throw error;
    }
  });
