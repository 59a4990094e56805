import { CombinedError, useQuery, type Client } from 'urql';
import { Refused } from '../../../shared/fetch';
import * as shared from '../../../shared/session';
import { newStore } from '../../../shared/store';
import { CreateUserDocument, ViewerDocument } from '../gql/graphql';
import { newClient } from './client';
import { faultsOf, unanswered, type Fault } from './faults';
import { forgetStale } from './stale';

export { rememberUsername, signOut, suggestedName } from '../../../shared/session';

// session is the account that is signed in, if any, and its client of the API. isExpired tells that
// the server rejected the account's token: nobody is signed in, but the account's drafts are shown.
export const session = newStore(begin(shared.session.get()));

function begin(account: shared.Session | null, client = clientFor(account)) {
  return { account, isExpired: account !== null && !account.token, client };
}

function clientFor(account: shared.Session | null) {
  return newClient(account, () => shared.expire(account?.token));
}

shared.session.follow(() => {
  const { account } = session.get();
  const next = shared.session.get();
  if (next?.name === account?.name && next?.token === account?.token) return;
  forgetStale(); // it is about the former account
  session.set(begin(next));
});

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
