// The session of a browser. All tabs, the blog's and GraphiQL's, have one. It begins by name, in
// development, or with the token of an issuer.
import { fetchInTime, Refused } from './fetch';
import { browserStorage as storage } from './storage';
import { newStore } from './store';

// Session is the account that is signed in. Without a token, the server has rejected its last one.
export type Session = { name: string; token?: string };

const sessionKey = 'cosmosblog.session';
const stored = () => storage.read<Session>(sessionKey);

// session is null if nobody is signed in.
export const session = newStore(stored());
storage.follow(sessionKey, () => session.set(stored()));

// reread returns the session as another tab may have just changed it.
export function reread() {
  session.set(stored());
  return session.get();
}

export function begin(next: Session) {
  storage.set(nameKey, next.name);
  storage.set(sessionKey, JSON.stringify(next));
}

export const signOut = () => storage.set(sessionKey, null);

// expire ends the session whose token the server has rejected. Another session goes on.
export function expire(token: string | undefined) {
  const current = stored();
  if (token && current?.token === token) storage.set(sessionKey, JSON.stringify({ name: current.name }));
}

// requestSession returns a session for a name that a person typed, and its username, which
// readUsername reads with an account's token. If an account that has signed in here was renamed to
// this name, the session is that account's. All other names are the names of accounts.
export async function requestSession(
  typed: string,
  readUsername: (token: string, name: string) => Promise<string | undefined>,
): Promise<{ account: Session; username?: string }> {
  const asked = typed.trim().toLowerCase();
  const [name] = Object.entries(usernames()).find(([, username]) => username.toLowerCase() === asked) ?? [asked];
  const token = await requestToken(name);
  const username = await readUsername(token, name);
  rememberUsername(name, username);
  const isStale = name !== asked && username?.toLowerCase() !== asked; // renamed again, elsewhere
  return isStale ? requestSession(typed, readUsername) : { account: { name, token }, username };
}

async function requestToken(name: string): Promise<string> {
  const answer = await fetchInTime('/development/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  const { token, errors } = await answer.json();
  if (!token) throw new Refused(errors?.[0]?.message ?? 'This server signs nobody in by name.');
  return token;
}

// usernames has the last known username of each account that has signed in here. A rename changes
// the username, and not the name that the account signs in with.
const usernamesKey = 'cosmosblog.usernames';
const usernames = () => storage.read<Record<string, string>>(usernamesKey) ?? {};

export function rememberUsername(name: string, username?: string) {
  const isOther = ([otherName, other]: [string, string]) =>
    otherName !== name && other.toLowerCase() !== username?.toLowerCase();
  const known = Object.entries(usernames()).filter(isOther);
  if (username) known.push([name, username]);
  storage.set(usernamesKey, JSON.stringify(Object.fromEntries(known)));
}

// usernameOf returns the username of an account, as far as this browser knows.
export const usernameOf = (name: string) => usernames()[name] ?? name;

const nameKey = 'cosmosblog.name';

// suggestedName returns the username of the account that this browser used last.
export const suggestedName = () => usernameOf(storage.get(nameKey) ?? 'anna');
