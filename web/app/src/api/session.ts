import { useQuery, type Client } from 'urql';
import { CreateUserDocument, ViewerDocument } from '../gql/graphql';
import { newStore } from '../store';
import { newClient } from './client';
import { faultsOf, noAnswer, type Fault } from './faults';

type Session = { name: string; token: string };

// sessionKey is the key in sessionStorage that GraphiQL reads too, so that one sign-in serves both
// pages of a tab.
const sessionKey = 'cosmosblog.session';

// session is the account that is signed in, if any, and its client of the API. isExpired tells that
// the server rejected the last account's token.
export const session = newStore(begin(JSON.parse(sessionStorage.getItem(sessionKey) ?? 'null')));

function begin(account: Session | null, isExpired = false) {
  return { account, isExpired, client: newClient(account?.token, expire) };
}

function expire() {
  sessionStorage.removeItem(sessionKey);
  session.set(begin(null, true));
}

export function signOut() {
  sessionStorage.clear(); // also the drafts
  session.set(begin(null));
}

// SignIn is the result of signIn: a client for the account, and a function that keeps the account for
// this tab. Without them, faults has the reasons.
type SignIn = { client: Client; keep: () => void; faults?: never } | { faults: Fault[] };

// signIn signs in by name, in development. It creates the account's user if it has none.
export async function signIn(username: string): Promise<SignIn> {
  const name = username.trim().toLowerCase();
  const answer = await requestToken(name);
  if ('faults' in answer) return answer;
  const account = { name, token: answer.token };
  const client = newClient(account.token, expire);

  const { data, error } = await client.query(ViewerDocument, {});
  if (error) return { faults: faultsOf(error) };
  if (!data?.viewer) {
    const created = await client.mutation(CreateUserDocument, { input: { username: username.trim() } });
    if (created.error) return { faults: faultsOf(created.error) };
  }
  return {
    client,
    keep() {
      sessionStorage.setItem(sessionKey, JSON.stringify(account));
      localStorage.setItem(nameKey, name);
      session.set({ account, isExpired: false, client });
    },
  };
}

async function requestToken(name: string): Promise<{ token: string } | { faults: Fault[] }> {
  try {
    const answer = await fetch('/development/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    if (answer.ok) return await answer.json();
    const message = 'A name has 3 to 30 letters, digits, “_”, “.” or “-”, and starts with a letter or digit.';
    if (answer.status === 400) return { faults: [{ message, field: 'username' }] };
  } catch {
    // Without an answer, the fault is the same as for an answer of another kind.
  }
  return { faults: [noAnswer()] };
}

const nameKey = 'cosmosblog.name';

// suggestedName returns the name that this browser used last.
export const suggestedName = () => localStorage.getItem(nameKey) ?? 'anna';

// useSession returns the signed-in user, and the faults of reading it. The viewer is null without one,
// and undefined while it is unknown.
export function useSession() {
  const { account } = session.use();
  const [{ data, error }, retry] = useQuery({ query: ViewerDocument, pause: !account });
  return { viewer: account ? data?.viewer : null, faults: faultsOf(error), retry };
}

export const useViewer = () => useSession().viewer;
