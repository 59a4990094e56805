// Sign-in by name, in development. All tabs of a browser, the blog's and GraphiQL's, have one session.
import { browserStorage as storage } from './storage';
import { newStore } from './store';

// Session is the account that is signed in. Without a token, the server has rejected its last one.
export type Session = { name: string; token?: string };

const sessionKey = 'cosmosblog.session';
const stored = (): Session | null => JSON.parse(storage.get(sessionKey) ?? 'null');

// session is null if nobody is signed in.
export const session = newStore(stored());
storage.follow(sessionKey, () => session.set(stored()));

export function begin(next: Session) {
  storage.set(nameKey, next.name);
  storage.set(sessionKey, JSON.stringify(next));
}

export const signOut = () => storage.set(sessionKey, null);

// expire ends the session whose token the server has rejected. Another session goes on.
export function expire(token: string | undefined) {
  const current = stored();
  if (current && current.token === token) storage.set(sessionKey, JSON.stringify({ name: current.name }));
}

// SignInRefused has the server's reason for not signing in a name.
export class SignInRefused extends Error {}

// requestSession returns a session for a name that a person typed.
export async function requestSession(typed: string): Promise<Required<Session>> {
  const name = typed.trim().toLowerCase();
  const answer = await fetch('/development/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  const { token, errors } = await answer.json();
  if (!token) throw new SignInRefused(errors?.[0]?.message ?? 'This server signs nobody in by name.');
  return { name, token };
}

const nameKey = 'cosmosblog.name';

// suggestedName returns the name that this browser used last.
export const suggestedName = () => storage.get(nameKey) ?? 'anna';
