// The session in requests. Its token is not in the headers that GraphiQL edits, because its history
// stores those for good.
import { session, type Session } from '../../shared/session';

const signedIn = (session: Session | null) => (session?.token ? session : undefined);

// current returns the session, or undefined if nobody is signed in.
export const current = () => signedIn(session.get());

// useSession returns the session, and renders again when it changes.
export const useSession = () => signedIn(session.use());

// bearer returns the value of the header Authorization.
export const bearer = ({ token }: Session) => `Bearer ${token}`;

// sessionHeaders returns the headers of the session's requests. They ask for the charges of each
// answer.
export function sessionHeaders(): Record<string, string> {
  const session = current();
  return { ...(session && { authorization: bearer(session) }), 'x-cosmos-diagnostics': '1' };
}
