// The account that is signed in, in this tab of the browser. The token is in its session storage, and
// not in the headers that GraphiQL edits, because its history stores those for good.
import { useSyncExternalStore } from 'react';

export interface Session {
  name: string;
  token: string;
}

const key = 'cosmosblog.session';
const listeners = new Set<() => void>();
let session: Session | undefined = JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined;

// current returns the session, or undefined if nobody is signed in.
export const current = () => session;

// change signs in, or out without a session.
export function change(to?: Session) {
  session = to;
  if (to) sessionStorage.setItem(key, JSON.stringify(to));
  else sessionStorage.removeItem(key);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// useSession returns the session, and renders again when it changes.
export const useSession = () => useSyncExternalStore(subscribe, current);

// bearer returns the value of the header Authorization.
export const bearer = ({ token }: Session) => `Bearer ${token}`;

// sessionHeaders returns the headers of the session's requests. They ask for the charges of each
// answer.
export function sessionHeaders(): Record<string, string> {
  return { ...(session && { authorization: bearer(session) }), 'x-cosmos-diagnostics': '1' };
}
