// The account that is signed in, in this tab of the browser. The token stays in its session storage,
// and GraphiQL does not store headers.
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

// headers returns the headers of the session's requests. They ask for the charges of each answer.
export function headers(): Record<string, string> {
  return { ...(session && { Authorization: bearer(session) }), 'X-Cosmos-Diagnostics': '1' };
}

// withSession returns the headers of a tab, a text in JSON, with the token of the session in place of
// that of an earlier one. A token from elsewhere stays, and so does a text that is not JSON.
export function withSession(text: string): string {
  let values: Record<string, unknown>;
  try {
    values = JSON.parse(text || '{}');
  } catch {
    return text;
  }
  const { Authorization: old, ...others } = values;
  if (old !== undefined && !issued.has(String(old))) return text;
  return JSON.stringify({ ...(session && { Authorization: bearer(session) }), ...others }, null, 2);
}

// issued are the headers of all sessions since the page was loaded.
const issued = new Set<string>();

function bearer({ token }: Session): string {
  const header = `Bearer ${token}`;
  issued.add(header);
  return header;
}
