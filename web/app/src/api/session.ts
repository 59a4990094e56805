import { CombinedError, useQuery, type Client } from 'urql';
import { Refused } from '../../../shared/fetch';
import * as shared from '../../../shared/session';
import { browserStorage } from '../../../shared/storage';
import { newStore } from '../../../shared/store';
import { CreateUserDocument, ViewerDocument } from '../gql/graphql';
import { newClient } from './client';
import { faultsOf, unanswered, type Fault } from './faults';
import type { Place } from './issuer';
import { page } from './page';
import { forgetStale } from './stale';

export { rememberUsername, suggestedName } from '../../../shared/session';

// session is the account that is signed in, if any, and its client of the API. isExpired tells that
// the server rejected the account's token: nobody is signed in, but the account's drafts are shown.
export const session = newStore(begin(shared.session.get()));

function begin(account: shared.Session | null, client = clientFor(account)) {
  return { account, isExpired: account !== null && !account.token, client };
}

// clientFor returns a client for an account. If the account's token is renewed, the client sends the new one.
function clientFor(account: shared.Session | null) {
  const token = () => {
    const current = shared.session.get();
    return (current?.name === account?.name && current?.token) || account?.token;
  };
  return newClient({ name: account?.token && account.name, token, refused });
}

async function refused(token: string, canRenew = true) {
  const isRenewed = canRenew && page.issuer !== undefined && (await (await import('./issuer')).renew(token));
  if (!isRenewed) shared.expire(token);
  return isRenewed;
}

// A tab that stays open until after an upgrade of the server could not load it any more.
if (page.issuer && shared.session.get()?.token) void import('./issuer').catch(() => {});

shared.session.follow(() => {
  const { account, isExpired, client } = session.get();
  const next = shared.session.get();
  if (next?.name === account?.name && next?.token === account?.token) return;
  const isRenewed = page.issuer && account && next?.token && next.name === account.name && !isExpired;
  if (!isRenewed) forgetStale(); // it is about the former account
  session.set(begin(next, isRenewed ? client : undefined));
});

// signInAtIssuer leaves the page. It returns only if that fails.
export async function signInAtIssuer(place: Place): Promise<Fault[]> {
  if (!browserStorage.isThere()) return [{ message: 'Your browser blocks its storage for this page. Signing in needs it.' }];
  try {
    await (await import('./issuer')).leave(place);
    return [];
  } catch {
    return [unanswered()];
  }
}

// isFromIssuer reports whether the issuer has sent the person back to this page.
export function isFromIssuer() {
  const answer = new URLSearchParams(location.search);
  return page.issuer !== undefined && answer.has('state') && (answer.has('code') || answer.has('error'));
}

// finishSignIn begins the session of a person whom the issuer has sent back. It returns where they were, or
// why it cannot begin.
export async function finishSignIn(): Promise<{ place: Place; faults?: never } | { faults: Fault[] }> {
  try {
    return { place: await (await import('./issuer')).finish() };
  } catch (error) {
    return { faults: [{ message: `The sign-in failed: ${(error as Error).message}` }] };
  } finally {
    history.replaceState(history.state, '', location.pathname); // the code is used up
  }
}

// signOut ends the session, and forgets the issuer's tokens. oidc-client-ts keeps them under this key,
// and is not asked to forget them, because loading it could fail.
export function signOut() {
  shared.signOut();
  if (page.issuer) browserStorage.set(`oidc.user:${page.issuer.url}:${page.issuer.client}`, null);
}

// SignIn is the result of signIn: a client for the account, its username, and a function that begins
// the session in all tabs. Without them, faults has the reasons.
type SignIn = { client: Client; username: string; keep: () => void; faults?: never } | { faults: Fault[] };

// signIn signs in by name, in development. It creates the account's user if it has none.
export async function signIn(typed: string): Promise<SignIn> {
  let client!: Client;
  async function readUsername(token: string, name: string) {
    client = clientFor({ name, token });
    const { data, error } = await client.query(ViewerDocument, {});
    if (error) throw error;
    return data?.viewer?.username;
  }
  try {
    const { account, username } = await shared.requestSession(typed, readUsername);
    if (!username) {
      const { error } = await client.mutation(CreateUserDocument, { input: { username: typed.trim() } });
      if (error) throw error;
    }
    return {
      client,
      username: username ?? typed.trim(),
      keep() {
        session.set(begin(account, client));
        shared.begin(account);
      },
    };
  } catch (error) {
    return { faults: signInFaults(error) };
  }
}

function signInFaults(error: unknown): Fault[] {
  if (error instanceof CombinedError) {
    return faultsOf(error).map((fault) => (fault.code === 'USERNAME_TAKEN' ? { ...fault, message: isTaken } : fault));
  }
  return [error instanceof Refused ? { message: nameRule, field: 'username' } : unanswered()];
}

const nameRule = 'A name has 3 to 30 letters, digits, “_”, “.” or “-”, and starts with a letter or digit.';
const isTaken =
  'This is the username of a person who first signed in with another name. If it is yours, sign in with that name.';

// useSession returns the signed-in user, and the faults of reading it. The viewer is null without one,
// and undefined while it is unknown.
export function useSession() {
  const { account, isExpired } = session.use();
  const isSignedIn = account !== null && !isExpired;
  const [{ data, error, fetching }, retry] = useQuery({ query: ViewerDocument, pause: !isSignedIn });
  const viewer = fetching ? undefined : data?.viewer; // meanwhile, data has the viewer of the last session
  return { viewer: isSignedIn ? viewer : null, faults: faultsOf(error), retry };
}

export const useViewer = () => useSession().viewer;
