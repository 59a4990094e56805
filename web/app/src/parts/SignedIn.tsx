import type { ReactNode } from 'react';
import { session, useSession } from '../api/session';
import { FaultBox } from './FaultBox';
import { SignInForm, signInHint } from './SignInForm';

type Props = {
  purpose: string;
  children: (viewer: { id: string; username: string }) => ReactNode;
};

// SignedIn shows its children to a signed-in user, and others a form to sign in.
export function SignedIn({ purpose, children }: Props) {
  const { viewer, faults, retry } = useSession();
  if (viewer) return children(viewer);
  if (viewer === undefined) return <FaultBox faults={faults} retry={retry} />;
  return (
    <section className="panel" aria-label="Sign in">
      {session.get().isExpired && <p>The server no longer accepts your sign-in. Your drafts are still here.</p>}
      <p>
        Sign in {purpose}.{signInHint}
      </p>
      <SignInForm />
    </section>
  );
}
