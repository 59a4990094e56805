// Reading what one has written. An answer to a mutation has a session token, which tells every
// server of the API what the account has changed. The requests of all tabs send it, so that their
// answers have the change.
import { fetchInTime } from './fetch';
import { session } from './session';
import { browserStorage as storage } from './storage';

const header = 'Cosmosblog-Session';
const maxLength = 4096; // of the header; the server accepts twice that

// Written are the tokens of an account. An answer's token includes those that its request sent, so
// there are several only if mutations ran at the same time. at is the time of the last change.
type Written = { name: string; tokens: string[]; at: number };

const key = 'cosmosblog.written';

function writtenBy(name?: string): Written | undefined {
  const written = storage.read<Written>(key);
  return written && written.name === name ? written : undefined;
}

const tokensOf = (name?: string) => writtenBy(name)?.tokens ?? [];

// replace replaces the tokens that a request sent by that of its answer. If all are too long
// together, it keeps the newest one.
function replace(name: string, sent: string[], token?: string) {
  const tokens = tokensOf(name).filter((other) => !sent.includes(other));
  if (token) tokens.push(token);
  const isTooLong = tokens.join().length > maxLength;
  storage.set(key, JSON.stringify({ name, tokens: isTooLong ? tokens.slice(-1) : tokens, at: Date.now() }));
}

// The tokens end with the session, also with one that the server has rejected: it may have another
// database now.
session.follow(() => {
  if (!session.get()?.token) storage.set(key, null);
});

// fetchAs returns a fetch for the requests of an account, which sends its tokens. It keeps those of
// answers while the account is signed in. If the server refuses the tokens, as another version of it
// may, they are forgotten, and the request is sent again.
export function fetchAs(name?: string): typeof fetch {
  if (!name) return fetchInTime;
  return async function send(input, init, sent = tokensOf(name)): Promise<Response> {
    const headers = new Headers(init?.headers);
    if (sent.length > 0) headers.set(header, sent.join());
    const response = await fetchInTime(input, { ...init, headers });
    const isRefused = sent.length > 0 && (await refusesTokens(response));
    const token = response.headers.get(header) ?? undefined;
    const isOther = (session.get()?.name ?? name) !== name; // signed in while the answer came
    if ((token || isRefused) && !isOther) replace(name, sent, token);
    return isRefused ? send(input, init, []) : response;
  };
}

// hasWritten reports whether an account has changed something in the last five minutes. Later, everybody sees
// the change.
export const hasWritten = (name?: string) => Date.now() - (writtenBy(name)?.at ?? 0) < 5 * 60_000;

// refusesTokens reports whether a server has refused a request because of its tokens. It has then
// executed nothing.
async function refusesTokens(response: Response) {
  return response.status === 400 && (await response.clone().text()).includes(header);
}
